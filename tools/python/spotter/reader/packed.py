# SPDX-License-Identifier: Apache-2.0
"""Rows of packed steps: many closed steps of scalars and summaries, in columns."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Dict, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from .layout import DTYPES, ONES, TEXT, Fields, Malformed
from .payload import decoded
from .rows import ALL_TERMS, DELTA, HASH, NONFINITE, ZEROS, Sample, doubles_of, read_summary
from .statistics import summaries_of_scalars


class Item(NamedTuple):
    """What a template of packed steps says of one or more rows. `size` is of each row; None where that differs from step to step."""
    scalar: bool
    timed: bool
    first: int
    ids: int
    dtype: int
    mask: int
    elements: int  # of the tensor
    finite: bool
    size: Optional[int]


@lru_cache(maxsize=4096)  # templates repeat from row to row
def read_template(data: bytes) -> Tuple[Item, ...]:
    f, items = Fields(data), []
    while f.left():
        kind, first = f.u8(4), f.varint(0xFFFFFFFE)
        if kind in (1, 2):
            count, dtype = f.varint(0xFFFFFFFF - first), f.u8(TEXT - 1)
            if count == 0 or dtype == 0:
                raise Malformed("a template of no scalars, or of no type")
            items.append(Item(True, kind == 2, first, count, dtype, 0, 0, False, DTYPES[dtype][1] + 8 * (kind == 2)))
        elif kind in (3, 4):
            mask, count, finite = f.varint(ALL_TERMS), f.varint(), kind == 4
            fixed = not mask & (ZEROS | DELTA) and (finite or not mask & NONFINITE)
            size = 8 * len(doubles_of(mask)) + 8 * bool(mask & HASH)
            items.append(Item(False, False, first, 1, 0, mask, count, finite, size if fixed else None))
        else:
            raise Malformed("an unknown item")
    return tuple(items)


class Column(NamedTuple):
    """The rows of one tensor in packed steps: of some of the steps, item by item."""
    of: "Packed"
    steps: np.ndarray  # which of the packed steps each row is of
    parts: list  # (item, place of each row's bytes), in the order of `order`
    order: Optional[np.ndarray]  # sorts the rows of several parts by step

    def joined(self, pieces):
        whole = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
        return whole if self.order is None else whole[self.order]

    def fields(self) -> dict:
        """The summaries of all rows: an array a field, those of scalars as if they were tensors of one element."""
        found = [self.of.fields_of(item, at) for item, at in self.parts]
        names = set(found[0]).union(*found)
        return {name: self.joined([each.get(name, np.zeros(len(each["count"]))) for each in found]) for name in names}

    def times(self) -> np.ndarray:
        """As given with scalars, else of the step's close."""
        given = self.joined([self.of.gather(at + DTYPES[item.dtype][1], "<f8")[:, 0] if item.timed else np.full(len(at), np.nan)
                             for item, at in self.parts])
        timed = self.joined([np.full(len(at), item.timed) for item, at in self.parts])
        return np.where(timed, given, self.of.times[self.steps])

    def sample(self, row: int) -> Sample:
        row = row if self.order is None else int(self.order[row])
        for item, at in self.parts:
            if row < len(at):
                return self.of.sample_of(item, int(at[row]))
            row -= len(at)
        raise IndexError(row)


class Packed:
    """A row of kind 10: closed steps of scalars and summaries, in columns. The values stay in the row's bytes until they are asked for."""

    def __init__(self, body: bytes, offset: int = 0):
        f = Fields(body)
        self.offset = offset  # of the body, in the segment
        steps, self.start = f.varint(65536), f.varint()
        first, last = f.fixed("2d", 16)
        if self.start + steps > ONES:
            raise Malformed("ordinals beyond the last")
        modes, indices, left = [], [], steps
        self.runs = []  # mode, first index, stride, which of the steps, how many
        for _ in range(f.varint(steps)):
            (mode, index), stride, count = f.step(), f.varint(), f.varint(left)
            self.runs.append((mode, index, stride, steps - left, count))
            left -= count
            modes.append(np.full(count, mode, np.uint8))
            indices.append(np.uint64(index) + np.uint64(stride) * np.arange(count, dtype=np.uint64))
        self.templates = [read_template(f.take(f.varint())) for _ in range(f.varint(steps))]
        if not steps or not self.templates or left:
            raise Malformed("packed steps that do not fit together")
        self.steps, self.body, self.data = steps, body, np.frombuffer(body, np.uint8)
        numbers = self._take_numbers(f)
        self.modes, self.indices = np.concatenate(modes), np.concatenate(indices)
        self.ordinals = np.uint64(self.start) + np.arange(steps, dtype=np.uint64)
        self.times = first + (last - first) * (np.arange(steps) / max(steps - 1, 1))
        self.times[-1] = last
        self.next = self.start + steps
        self._place_values(f.at, numbers)

    def _take_numbers(self, f) -> np.ndarray:
        """Of each step its template."""
        count = len(self.templates)
        if count == 1:
            return np.zeros(self.steps, np.int64)
        numbers = self.data[f.at:f.at + self.steps]
        if len(numbers) == self.steps and numbers.max() < min(count, 128):  # all of one byte
            f.at += self.steps
            return numbers.astype(np.int64)
        return np.fromiter((f.varint(count - 1) for _ in range(self.steps)), np.int64)

    def _place_values(self, at: int, numbers: np.ndarray):
        """For each item of each template the steps that have it, and the places of its rows there."""
        varies = np.array([any(item.size is None for item in items) for items in self.templates])
        sizes = np.array([sum((item.size or 0) * item.ids for item in items) for items in self.templates])
        widths = np.where(varies[numbers], 0, sizes[numbers])
        found: Dict[int, list] = {number: [[] for _ in self.templates[number]] for number in np.flatnonzero(varies).tolist()}
        f, before = Fields(self.body), at + np.cumsum(widths) - widths
        grown = 0
        for step in np.flatnonzero(varies[numbers]).tolist():  # one by one only those whose size differs
            number = int(numbers[step])
            begin = f.at = int(before[step]) + grown
            for item, places in zip(self.templates[number], found[number]):
                places.append(f.at)
                if item.size is None:
                    read_summary(f, item.mask, item.elements, item.finite)
                else:
                    f.take(item.size * item.ids)
            widths[step] = f.at - begin
            grown += f.at - begin
        begins = at + np.cumsum(widths) - widths
        if begins[-1] + widths[-1] > len(self.body):
            raise Malformed("packed values that run beyond their row")
        self.items = []
        for number, items in enumerate(self.templates):
            steps = np.flatnonzero(numbers == number)
            places = begins[steps]
            for i, item in enumerate(items):
                self.items.append((item, steps, np.array(found[number][i], np.int64) if number in found else places))
                places = places + (item.size or 0) * item.ids

    def hold(self):
        """Marks the steps at which anything was kept, though the declaration that names it may be lost."""
        self.held = np.zeros(self.steps, bool)
        for item, steps, _ in self.items:
            if item.ids:
                self.held[steps] = True

    def ids(self) -> Iterator[int]:
        for item, steps, _ in self.items:
            if len(steps):  # one that no step takes may claim any number of them
                yield from range(item.first, item.first + item.ids)

    def column(self, wanted: int) -> Optional[Column]:
        parts, steps = [], []
        for item, its_steps, at in self.items:
            if item.first <= wanted < item.first + item.ids and len(its_steps):
                parts.append((item, at + (wanted - item.first) * (item.size or 0) if item.scalar else at))
                steps.append(its_steps)
        if not parts:
            return None
        if len(parts) == 1:
            return Column(self, steps[0], parts, None)
        all_steps = np.concatenate(steps)
        order = np.argsort(all_steps, kind="stable")
        return Column(self, all_steps[order], parts, order)

    def gather(self, at: np.ndarray, dtype: str, count=1) -> np.ndarray:
        """So many elements of some type from each of some places on."""
        return self.data[at[:, None] + np.arange(count * np.dtype(dtype).itemsize)].view(dtype)

    def fields_of(self, item: Item, at: np.ndarray) -> dict:
        if item.scalar:
            return summaries_of_scalars(decoded(self.gather(at, DTYPES[item.dtype][3])[:, 0], item.dtype))
        if item.size is None:
            rows = [read_summary(Fields(self.body, int(each)), item.mask, item.elements, item.finite) for each in at]
            return {name: np.array([row.get(name, 0) for row in rows]) for name in set().union(*rows)}
        found = {"mask": np.full(len(at), item.mask), "count": np.full(len(at), item.elements)}
        names = doubles_of(item.mask)
        if names:
            found.update(zip(names, self.gather(at, "<f8", len(names)).T))
        return found

    def sample_of(self, item: Item, at: int) -> Sample:
        it = Sample()
        if item.scalar:
            size = DTYPES[item.dtype][1]
            it.dtype, it.raw = item.dtype, self.body[at:at + size]
            it.time = struct.unpack_from("<d", self.body, at + size)[0] if item.timed else None
        else:
            it.summary = read_summary(Fields(self.body, at), item.mask, item.elements, item.finite)
        return it

    def may_have(self, _: int) -> bool:
        return True

    def rows_of(self, wanted: int) -> list:
        """Where the rows of a tensor are, all of them here, and how long that is."""
        return [(self.offset, len(self.body))]

    def places_at(self, wanted: int, mode: int, index: int) -> list:
        """(ordinal, where it is) of each row of a tensor at a step; all are where this row is."""
        column = self.column(wanted) if np.any((self.indices == index) & (self.modes == mode)) else None
        if column is None:
            return []
        rows = column.steps[(self.indices[column.steps] == index) & (self.modes[column.steps] == mode)]
        return [(ordinal, self.offset) for ordinal in self.ordinals[rows].tolist()]

    def last_at(self, wanted: int, mode: int, index: int):
        """The last row of a tensor at a step: its place in the order of this row, ordinal and what it says; None where there is none."""
        if not np.any((self.indices == index) & (self.modes == mode)):
            return None
        column = self.column(wanted)
        if column is None:
            return None
        rows = np.flatnonzero((self.indices[column.steps] == index) & (self.modes[column.steps] == mode))
        if not len(rows):
            return None
        return int(self.ordinals[column.steps[rows[-1]]]), column.sample(int(rows[-1]))
