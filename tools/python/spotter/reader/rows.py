# SPDX-License-Identifier: Apache-2.0
"""Rows that stand for themselves: observations, scalars and closes."""

from __future__ import annotations

from functools import lru_cache
from typing import Dict, Iterator, List, Literal, NamedTuple, Optional, Tuple

from .layout import DTYPES, ONES, TEXT, Fields, Malformed, has_form

# Of the fields behind `count` in a summary those that are always there with their term: bit, names.
_DOUBLES = ((4, ("minimum", "maximum")), (8, ("abs_minimum", "abs_maximum")), (16, ("sum",)), (32, ("sum_abs",)),
            (64, ("sum_squares",)), (128, ("moment2",)), (256, ("product",)))
NONFINITE, ZEROS, DELTA, HASH, ALL_TERMS = 1, 2, 512, 1024, 2047


@lru_cache(maxsize=None)
def doubles_of(mask):
    return tuple(name for bit, names in _DOUBLES if mask & bit for name in names)


def read_summary(f: Fields, mask: int, count: int, finite=False) -> dict:
    """The fields behind `count` by name; finite: without the counts of what is not."""
    found = {"mask": mask, "count": count}
    if mask & NONFINITE and finite:
        found["nan"] = found["pos_inf"] = found["neg_inf"] = 0
    elif mask & NONFINITE:
        found["nan"] = f.varint(count)
        found["pos_inf"] = f.varint(count - found["nan"])
        found["neg_inf"] = f.varint(count - found["nan"] - found["pos_inf"])
        if found["nan"] or found["pos_inf"] or found["neg_inf"]:
            found["first_bad"] = f.varint()
    if mask & ZEROS:
        found["zeros"] = f.varint()
    names = doubles_of(mask)
    if names:
        found.update(zip(names, f.fixed("%dd" % len(names), 8 * len(names))))
    if mask & DELTA and f.u8(1):
        found["previous_index"] = f.varint()
        found.update(zip(("previous_sum_squares", "delta_sum_squares", "dot"), f.fixed("3d", 24)))
        found["changed"] = f.varint()
    if mask & HASH:
        found["hash"] = f.fixed("Q", 8)[0]
    return found


class Place(NamedTuple):
    """Where values are: those of their own frames, exclusive or those of the bases."""
    dtype: int
    order: Literal["C", "F"]
    shape: Tuple[int, ...]
    parts: Tuple[Tuple[int, int, int], ...]  # offset, bytes, form; the values' own first


class Sample:
    """One observation or scalar: what its row says."""
    __slots__ = ("id", "mode", "index", "loose", "dtype", "raw", "time", "summary", "thinned", "quantiles", "histogram", "shape",
                 "place")
    id: int
    mode: int
    index: int
    dtype: int  # of a scalar
    raw: Optional[bytes]  # of a scalar, which has it alone
    time: Optional[float]  # given with a scalar
    summary: Optional[dict]  # of what is no scalar
    quantiles: Optional[bytes]
    histogram: Optional[Tuple[float, float, List[int]]]
    shape: Optional[Tuple[int, ...]]
    place: Optional["Place"]

    def __init__(self):
        self.loose = self.thinned = False
        self.dtype = 0
        self.raw = self.time = self.summary = self.quantiles = self.histogram = self.shape = self.place = None


def read_observe(body: bytes) -> Sample:
    f, it = Fields(body), Sample()
    bits = f.u8(127)
    it.id = f.varint(0xFFFFFFFE)
    it.mode, it.index = f.step()
    it.thinned = bool(bits & 4)
    mask = f.varint(ALL_TERMS)
    it.summary = read_summary(f, mask, f.varint())
    if bits & 1:
        units = f.varint()
        f.take(1 + 8 * units)
    if bits & 8:
        it.quantiles = f.take(8 * f.varint())
    if bits & 16:
        bins = f.varint(f.left())
        it.histogram = (f.f64(), f.f64(), [f.varint() for _ in range(bins)])
    if bits & 32:
        it.shape = f.shape()
    if bits & 2:
        dtype, order, it.shape, form = f.u8(TEXT), f.u8(1), f.shape(), f.u8()
        parts = [(f.varint(), f.varint(), form)]
        if bits & 64:
            for _ in range(f.varint(64)):
                distance = f.varint(parts[-1][0])
                parts.append((parts[-1][0] - distance, f.varint(), f.u8()))
            if len(parts) == 1:
                raise Malformed("a difference to nothing")
        if not has_form(dtype, form):
            raise Malformed("values of no type, or in a form that it has not")
        it.place = Place(dtype, "F" if order else "C", it.shape, tuple(parts))
    return it


def read_scalar(body: bytes) -> Sample:
    f, it = Fields(body), Sample()
    bits = f.u8(3)
    it.id, it.loose = f.varint(0xFFFFFFFE), not bits & 1
    it.mode, it.index = (0, 0) if it.loose else f.step()
    it.dtype = f.u8(TEXT)
    it.raw = f.take(f.varint())
    it.time = f.f64() if bits & 2 else None
    if it.dtype == 0 or (it.dtype != TEXT and len(it.raw) != DTYPES[it.dtype][1]):
        raise Malformed("a scalar that has not the size of its type")
    return it


class Plain:
    """Rows that stand for themselves, one after the other in a frame."""

    def __init__(self, ordinal: int):
        self.start = self.next = ordinal
        self.entries: Dict[int, list] = {}  # by the writer's id: (mode, index, ordinal, kind, body, where that is)
        self.closes: list = []  # (mode, index, ordinal, time, held: anything was kept)
        self.open_held = False  # anything was kept behind the last close

    def add(self, sample: Sample, body: bytes, offset: int):
        self.open_held = self.open_held or not sample.loose  # whether or not there is a name for it
        kind = LOOSE if sample.loose else SCALAR if sample.raw is not None else OBSERVED if sample.place is None else VALUES
        self.entries.setdefault(sample.id, []).append((sample.mode, sample.index, self.next, kind, body, offset))

    def close(self, f: Fields):
        (mode, index), _, ordinal, when = f.step(), f.varint(0xFFFFFFFF), f.varint(ONES - 1), f.f64()
        self.closes.append((mode, index, ordinal, when, self.open_held))
        self.next, self.open_held = ordinal + 1, False

    def ids(self):
        return self.entries

    def may_have(self, wanted: int) -> bool:
        return wanted in self.entries

    def last_at(self, wanted: int, mode: int, index: int):
        for entry in reversed(self.entries.get(wanted, ())):
            if entry[0] == mode and entry[1] == index and entry[3] != LOOSE:
                return entry[2], sample_of(entry)
        return None

    def rows_of(self, wanted: int) -> list:
        """Where each row of an id is, and how long."""
        return [(entry[5], len(entry[4])) for entry in self.entries.get(wanted, ())]

    def places_at(self, wanted: int, mode: int, index: int) -> list:
        """(ordinal, where it is) of each row of an id at a step, loose ones left out."""
        return [(entry[2], entry[5]) for entry in self.entries.get(wanted, ())
                if entry[0] == mode and entry[1] == index and entry[3] != LOOSE]


OBSERVED, VALUES, SCALAR, LOOSE = range(4)  # what an entry is


def sample_of(entry) -> Sample:
    return (read_scalar if entry[3] in (SCALAR, LOOSE) else read_observe)(entry[4])


def each_row(body: bytes) -> Iterator[Tuple[int, int, bytes]]:
    """Kind, place and bytes of each row in a frame."""
    f = Fields(body)
    try:
        while f.left():
            kind = f.u8()
            row = f.take(f.varint())
            yield kind, f.at - len(row), row
    except Malformed:
        return
