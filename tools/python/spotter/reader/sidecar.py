# SPDX-License-Identifier: Apache-2.0
"""What stands beside a segment: places of its row frames, and behind them what it declares, once more."""

from __future__ import annotations

import io
from typing import Iterable, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from .frames import PLACE_FIELDS, Bytes, Frame, Group, Walk
from .layout import HEAD_BYTES, PLACE, THINNED, Fields, Malformed, has_checksum
from .rows import each_row

NONE = (1 << 64) - 1
Spans = List[int]  # of each mode the lowest and the highest index; the highest below the lowest where there is none


def no_spans() -> Spans:
    return [NONE, 0] * 3


def widen(spans: Spans, more) -> None:
    for mode in range(3):
        low, high = more[2 * mode:2 * mode + 2]
        if low <= high:
            spans[2 * mode], spans[2 * mode + 1] = min(spans[2 * mode], low), max(spans[2 * mode + 1], high)


def joined(several: Iterable[Optional[Spans]]) -> Spans:
    spans = no_spans()
    for each in several:
        widen(spans, each)
    return spans


class Owner(NamedTuple):
    """Whose a sidecar is, as the run_begin behind its places says."""
    run_id: int
    attempt: int


class Sidecar:
    def __init__(self, data: bytes):
        count = len(data) // PLACE_FIELDS.itemsize
        places = np.frombuffer(data, PLACE_FIELDS, count)
        # Declarations begin with the magic of a row frame, where a place would have its own.
        other = np.flatnonzero(places["magic"] == 0x184D2A51)
        self.count = int(other[0]) if len(other) else count
        self._data, self._places = data, places[:self.count]
        self.beside = data[self.count * PLACE_FIELDS.itemsize:]

    def chain(self, thinned: Optional[bool] = None) -> Iterator[Group]:
        """Places that are whole and follow one another from the beginning; of a segment that is thinned, or is not."""
        end = HEAD_BYTES
        for i, place in enumerate(self._places.tolist()):
            data = self._data[i * 112:(i + 1) * 112]
            magic, frames, offset, its_end, previous_end, first_ordinal, closes, _, _, flags, spans, _ = place
            if magic != PLACE or not has_checksum(data[:-8], data[-8:]) or not previous_end <= offset <= its_end:
                return
            if previous_end != end or frames == 0 or (thinned is not None and bool(flags & THINNED) != thinned):
                return
            yield Group(offset, its_end, frames, first_ordinal, closes, flags, previous_end, spans)
            end = its_end

    def owner(self) -> Optional[Owner]:
        frame = next(iter(self._frames()), None)
        try:
            if isinstance(frame, Frame):
                kind, _, body = next(each_row(frame.body))
                return owner_of(body) if kind == 1 else None
        except (Malformed, StopIteration):
            pass
        return None

    def declarations(self, run_id: int, attempt: int) -> Iterator[Tuple[int, bytes]]:
        """Kind and body of the rows behind the places, where they are of that run and attempt."""
        ours = False
        for frame in self._frames():
            for kind, _, body in each_row(frame.body) if isinstance(frame, Frame) else ():
                if kind == 1:
                    try:
                        ours = owner_of(body) == (run_id, attempt)
                    except Malformed:
                        ours = False
                if ours and kind in (1, 2):
                    yield kind, body

    def _frames(self):
        return Walk(Bytes(io.BytesIO(self.beside), len(self.beside)), 0, chained=True)

    def lost(self) -> Tuple[bool, Spans]:
        """Whether all that it tells of is known, and the steps of that."""
        places = list(self.chain())
        return len(places) == self.count, joined(each.spans for each in places)


def owner_of(body: bytes) -> Owner:
    f = Fields(body)
    run_id = f.fixed("Q", 8)[0]
    return Owner(run_id, f.varint(0xFFFFFFFF))
