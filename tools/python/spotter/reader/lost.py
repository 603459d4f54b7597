# SPDX-License-Identifier: Apache-2.0
"""Rows that are lost, and which steps they may have been of: what stands before them may have been superseded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Optional, Tuple

from .frames import Frame, Walk
from .layout import ONES, UNKNOWN, Fields, Malformed
from .packed import Packed
from .rows import each_row, read_observe, read_scalar
from .sidecar import Spans, no_spans, widen

if TYPE_CHECKING:
    from .frames import Group
    from .record import Record
    from .segment import Segment

# Whether lost rows may stand behind an entry; within: of another observation in its step, if they are of one.
NONE, WITHIN_STEP, SUPERSEDED = range(3)
# What is known of lost rows: not even the attempt; that; and that they may be of any step of their spans.
NOTHING, ATTEMPT, RANGE = range(3)


class _Place:
    def __init__(self, segment: int, offset: int, attempt: int, ordinal: int):
        self.segment, self.offset, self.attempt, self.ordinal = segment, offset, attempt, ordinal
        self.among: Optional[Spans] = None  # the steps that they can be of, where that is known
        self.anything = self.range = self.tail = False
        self.counted, self.closes = False, 0  # so many closes were lost, and `next` is the first one behind them
        self.next = (-1, -1)
        self.before, self.behind = [False] * 3, [False] * 3  # whether a close of that mode bounds it
        self.first, self.last = [0] * 3, [ONES] * 3
        self.apart = [1] * 3  # so far at least are two closes of that mode

    def is_of(self, attempt: int) -> bool:
        return UNKNOWN in (attempt, self.attempt) or self.attempt == attempt

    def may_hold(self, mode: int, index: int) -> bool:
        if self.among is not None and not self.among[2 * mode] <= index <= self.among[2 * mode + 1]:
            return False
        if self.anything or self.range:
            return True
        if self.counted and self.closes == 0:
            return (mode, index) == self.next  # rows of the step that was open
        return self.first[mode] <= index <= self.last[mode] or (self.counted and self.closes > self._room())

    def _room(self) -> int:
        """So many closings have room in it while the indices rise."""
        if self.before != self.behind:
            return ONES
        return sum(max(self.last[mode] - self.first[mode], 0) // self.apart[mode]
                   for mode in range(3) if self.before[mode])


class LostRows:
    """Filled in the order of writing. A place is known by its sidecar, or by what is left around it: within an attempt
    the indices of a mode rise, so rows between train(4) and train(9) were of these, unless more closings are missing
    than that."""

    def __init__(self) -> None:
        self.places: List[_Place] = []
        self.attempt = UNKNOWN
        self._last: List[Optional[int]] = [None] * 3  # of this attempt the last close of each mode
        self._apart = [0] * 3  # and the smallest distance of two that rise
        self._unbounded, self._uncounted = [0] * 3, 0  # from here on places await a close of that mode, and any

    def begin_attempt(self, attempt: int):
        if attempt == self.attempt and attempt != UNKNOWN:
            return
        self.attempt, self._last, self._apart = attempt, [None] * 3, [0] * 3
        self._unbounded, self._uncounted = [len(self.places)] * 3, len(self.places)

    def add(self, segment: int, offset: int, ordinal: int, among: Optional[Spans] = None, known: int = ATTEMPT):
        it = self.places[-1] if self._uncounted < len(self.places) else None
        wanted = segment, ordinal, among is None, known == RANGE
        if it is None or (it.segment, it.ordinal, it.among is None, it.range) != wanted:
            it = self._place(segment, offset, ordinal)
            if known == NOTHING:
                it.attempt = UNKNOWN
            if among is not None:
                it.among = no_spans()
        it.offset = offset  # many rows of one step are one place
        it.anything, it.range = it.anything or known == NOTHING, known == RANGE
        if it.among is not None and among is not None:
            widen(it.among, among)

    def add_tail(self, segment: int, ordinal: int):
        """A write of this attempt that was not finished, at the end of a segment: what it was of may have taken the
        place of what is there. That there was more is not said of it."""
        self._place(segment, ONES, ordinal).tail = True

    def _place(self, segment: int, offset: int, ordinal: int) -> _Place:
        it = _Place(segment, offset, self.attempt, ordinal)
        for mode, last in enumerate(self._last):
            it.before[mode], it.first[mode] = last is not None, 0 if last is None else last + 1
            it.apart[mode] = max(self._apart[mode], 1)
        self.places.append(it)
        return it

    def rises(self, among: Spans, start: int, end: int) -> bool:
        """The closes from one ordinal to another may all be of later steps than those that were met, among these. Else
        the loop went back in them."""
        room = 0
        for mode, last in enumerate(self._last):
            apart = max(self._apart[mode], 1)
            first = max(int(among[2 * mode]), 0 if last is None else last + apart)
            room += max(int(among[2 * mode + 1]) - first + apart, 0) // apart
        return 0 <= end - start <= room

    def close(self, mode: int, index: int, ordinal: int, apart: int = 0):
        """`apart`: how far the closes just before it are, where they are not listed one by one."""
        last, index, apart = self._last[mode], int(index), int(apart)
        if last is not None and index > last:
            self._apart[mode] = min(self._apart[mode] or ONES, apart or index - last)
        for it in self.places[self._uncounted:]:
            it.counted, it.closes, it.next = ordinal >= it.ordinal, ordinal - it.ordinal, (mode, index)
        for it in self.places[self._unbounded[mode]:]:
            it.behind[mode], it.last[mode] = True, index
            it.anything = it.anything or it.first[mode] > index  # the loop went back in it
        self._uncounted = self._unbounded[mode] = len(self.places)
        self._last[mode] = index

    def behind(self, segment: int, offset: int, its_ordinal: int, mode: int, index: int, attempt: int) -> int:
        found = NONE
        for it in reversed(self.places):
            if (it.segment, it.offset) <= (segment, offset) or not it.is_of(attempt) or not it.may_hold(mode, index):
                continue
            if it.anything or it.ordinal != its_ordinal:
                return SUPERSEDED
            found = WITHIN_STEP
        return found

    def may_hold(self, mode: int, index: int, attempt: int, tails: bool = False) -> bool:
        return any((tails or not it.tail) and it.is_of(attempt) and it.may_hold(mode, index) for it in self.places)


class Doubts:
    """What one worker's record has lost, and the rows that nothing declares. Made for those that have lost something:
    it reads all rows once more."""

    def __init__(self, record: "Record"):
        self._record, self.rows, self._ordinal = record, LostRows(), 0
        self._nameless = [(at, segment, segment.nameless()) for at, segment in enumerate(record.segments)
                          if segment.nameless()]
        for at, segment in enumerate(record.segments):
            if segment.size < 64:
                continue
            self.rows.begin_attempt(record.attempt_of(at))
            self._take_lost_before(at, segment)
            left = list(segment.lost)
            for group in segment.groups:
                self._take_lost(at, left, group.offset)
                self._take_group(at, segment, group)
            self._take_lost(at, left, ONES)
            if segment.left_short:
                self.rows.add(at, ONES, self._ordinal)
            elif segment.left_torn:
                self.rows.add_tail(at, self._ordinal)
        for gone in record.gone:
            self.rows.begin_attempt(gone.attempt)
            known = RANGE if gone.spans is not None and gone.attempt != UNKNOWN else NOTHING
            self.rows.add(len(record.segments), 0, self._ordinal, gone.spans, known)

    def _take_lost_before(self, at: int, segment: "Segment"):
        if segment.behind_lost or (segment.foreign and not segment.stray):
            same = at > 0 and self._record.attempt_of(at - 1) == self._record.attempt_of(at)
            self.rows.add(at, 0, self._ordinal, None, ATTEMPT if same else NOTHING)

    def _take_lost(self, at: int, left: list, offset: int):
        while left and left[0].offset <= offset:
            lost = left.pop(0)
            rises = lost.begun and (lost.end == 0 or self.rows.rises(lost.spans, self._ordinal, lost.end))
            self.rows.add(at, lost.offset, self._ordinal, lost.spans, ATTEMPT if lost.spans is None or rises else RANGE)

    def _take_group(self, at: int, segment: "Segment", group: "Group"):
        frames, walk = 0, Walk(segment.bytes(group.end), group.offset)
        for frame in walk:
            if not isinstance(frame, Frame):
                self.rows.add(at, frame[0], self._ordinal, group.spans)
                continue
            frames, self._ordinal = frames + 1, frame.first_ordinal
            for kind, place, body in each_row(frame.body):
                try:
                    self._take_row(kind, body)
                except Malformed:
                    self.rows.add(at, frame.offset + 48 + place + len(body), self._ordinal)
        if frames < group.frames:
            # Without spans it was met as it is, and not listed by a sidecar.
            rises = group.spans is None or self.rows.rises(group.spans, self._ordinal,
                                                           group.first_ordinal + group.closes)
            self.rows.add(at, walk.good_end, self._ordinal, group.spans, ATTEMPT if rises else RANGE)

    def _take_row(self, kind: int, body: bytes):
        if kind == 10:
            packed = Packed(body)
            for mode, first, stride, start, count in packed.runs:
                self.rows.close(mode, first, packed.start + start)
                self.rows.close(mode, (first + (count - 1) * stride) & ONES, packed.start + start + count - 1, stride)
            self._ordinal = packed.next
        elif kind in (3, 4):
            (read_observe if kind == 3 else read_scalar)(body)
        elif kind == 5:
            f = Fields(body)
            (mode, index), _, ordinal, _ = f.step(), f.varint(0xFFFFFFFF), f.varint(ONES - 1), f.f64()
            self.rows.close(mode, index, ordinal)
            self._ordinal = ordinal + 1

    def _nameless_at(self, mode: int, index: int, attempt: int) -> Iterator[Tuple[int, int, int]]:
        """Segment, place and ordinal of rows at a step that nothing declares."""
        for at, segment, ids in self._nameless:
            if attempt != UNKNOWN and self._record.attempt_of(at) not in (UNKNOWN, attempt):
                continue
            for group in segment.groups:
                for piece in group.pieces or ():
                    for local in ids:
                        for ordinal, offset in piece.places_at(local, mode, index):
                            yield at, offset, ordinal

    def any(self) -> bool:
        return bool(self._nameless) or bool(self.rows.places)

    def behind(self, segment: int, offset: int, ordinal: int, mode: int, index: int, attempt: int) -> int:
        found = self.rows.behind(segment, offset, ordinal, mode, index, attempt)
        for at, place, its in self._nameless_at(mode, index, attempt) if found != SUPERSEDED else ():
            if (at, place) > (segment, offset):
                found = WITHIN_STEP
                if its != ordinal:
                    return SUPERSEDED
        return found

    def may_lack(self, mode: int, index: int, attempt: int = UNKNOWN) -> bool:
        return self.rows.may_hold(mode, index, attempt) or any(True for _ in self._nameless_at(mode, index, attempt))

    def may_hide(self, mode: int, index: int) -> bool:
        return self.may_lack(mode, index) or self.rows.may_hold(mode, index, UNKNOWN, True)
