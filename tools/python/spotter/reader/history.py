# SPDX-License-Identifier: Apache-2.0
"""The summaries of all rows of a tensor, as columns: those that were stored, and what follows from the values, once it was asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Dict, List, Tuple

import numpy as np

from ..errors import Corrupt
from .layout import DTYPES, TEXT
from .packed import Column
from .payload import decoded
from .rows import Place, sample_of
from .statistics import FIELDS_OF_SUMMARY, Summing, summaries_of_scalars

if TYPE_CHECKING:
    from .record import Tensor
    from .segment import Segment

TOGETHER = 1 << 15  # elements of small tensors that are looked at at once


class Summaries:
    def __init__(self) -> None:
        self._chunks = self._rows = 0  # how many have been taken in
        self._fields: Dict[str, np.ndarray] = {name: np.empty(0) for name in FIELDS_OF_SUMMARY}
        self._mask: np.ndarray = np.empty(0, np.int64)
        self._tried: np.ndarray = np.empty(0, np.int64)  # which terms have been asked of the values
        self._places: Dict[int, Tuple["Segment", Place]] = {}  # where the values are, of rows that have some

    def of(self, tensor: "Tensor", chosen: np.ndarray, needs: int) -> dict:
        """The summaries of some rows, a field an array, with these terms as far as the record or the values have them."""
        self._take(tensor)
        lacking = chosen[(self._mask[chosen] & needs != needs) & (self._tried[chosen] & needs != needs)]
        self._compute([at for at in lacking.tolist() if at in self._places], needs)
        return {"mask": self._mask[chosen], **{name: each[chosen] for name, each in self._fields.items() if name != "mask"}}

    def _take(self, tensor: "Tensor") -> None:
        rows = len(tensor.arrays().mode)
        if rows == self._rows:
            return
        more = np.zeros(rows - self._rows)
        self._fields = {name: np.concatenate((each, more)) for name, each in self._fields.items()}
        self._mask, self._tried = (np.concatenate((each, more.astype(np.int64))) for each in (self._mask, self._tried))
        at = self._rows
        scalars: Dict[int, list] = {}  # by dtype: (row, bytes)
        plain: List[Tuple[int, dict]] = []
        for segment, entries in tensor.chunks[self._chunks:]:
            if isinstance(entries, Column):
                fields = entries.fields()
                self._set(slice(at, at + len(entries.steps)), fields, fields["mask"])
                at += len(entries.steps)
                continue
            for row, entry in enumerate(entries, at):
                it = sample_of(entry)
                if it.raw is not None:
                    scalars.setdefault(it.dtype, []).append((row, it.raw))
                elif it.summary is not None:
                    plain.append((row, it.summary))
                if it.place is not None and it.place.dtype != TEXT:
                    self._places[row] = segment, it.place
            at += len(entries)
        for dtype, found in scalars.items():
            if dtype != TEXT:
                at_rows, raws = zip(*found)
                fields = summaries_of_scalars(decoded(np.frombuffer(b"".join(raws), DTYPES[dtype][3]), dtype))
                self._set(np.array(at_rows), fields, fields["mask"])
        if plain:
            at_rows, summaries = zip(*plain)
            fields = {name: np.array([each.get(name, 0) for each in summaries]) for name in FIELDS_OF_SUMMARY}
            self._set(np.array(at_rows), fields, fields["mask"])
        self._chunks, self._rows = len(tensor.chunks), rows

    def _set(self, at, fields: dict, mask: np.ndarray) -> None:
        for name, each in fields.items():
            if name in self._fields and name != "mask":
                self._fields[name][at] = each
        self._mask[at] |= mask

    def _compute(self, rows: List[int], needs: int) -> None:
        """From the values; small tensors of one size and type together, a large one piece by piece."""
        self._tried[rows] |= needs
        waiting: Dict[Tuple[int, int], list] = {}
        for row in rows:
            segment, place = self._places[row]
            count = math.prod(place.shape)
            try:
                if 2 * count > TOGETHER:
                    summing = Summing(1, count, needs)
                    for block in segment.value_blocks(place):
                        summing.add(decoded(block, place.dtype)[None])
                    self._put([row], summing)
                    continue
                found = waiting.setdefault((place.dtype, count), [])
                found.append((row, segment.values(place, None)))
            except Corrupt:
                continue
            if len(found) * count >= TOGETHER:
                self._compute_together(place.dtype, count, found, needs)
                found.clear()
        for (dtype, count), found in waiting.items():
            if found:
                self._compute_together(dtype, count, found, needs)

    def _compute_together(self, dtype: int, count: int, found: list, needs: int) -> None:
        rows, values = zip(*found)
        summing = Summing(len(rows), count, needs)
        summing.add(decoded(np.stack(values), dtype))
        self._put(list(rows), summing)

    def _put(self, rows: List[int], summing: Summing) -> None:
        fields = summing.found()
        self._set(rows, fields, fields["mask"])
