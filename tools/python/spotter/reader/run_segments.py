# SPDX-License-Identifier: Apache-2.0
"""The segments of one worker's record, in order, and what of them is missing."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import Callable, Dict, List, NamedTuple, Optional, Set

from ..errors import Corrupt, NotARun, SpotterError, UnknownVersion
from ..model import Damage
from .frames import Bytes, Frame, Walk, row_frame
from .layout import HEAD_BYTES, UNKNOWN
from .segment import Segment, read_head
from .sidecar import Sidecar, Spans
from .store import AnyPath, StorePath, open_file, size_of


class Gone(NamedTuple):
    """A segment of which only the sidecar is left, or not even the head."""
    number: int
    attempt: int
    spans: Optional[Spans]  # the steps that were in it, where that is known


def number_of(name: str, suffix: str) -> Optional[int]:
    """The number of a segment by its file's name."""
    found = re.fullmatch(r"(0*[0-9]{1,10})", name[:-len(suffix)]) if name.endswith(suffix) else None
    if found is None or len(found[1]) < 6 or (len(found[1]) > 6 and found[1][0] == "0") or int(found[1]) >= 1 << 32:
        return None
    return int(found[1])


class RunSegments:
    """taken(segment): called for each in order, whenever it has been looked at."""

    def __init__(self, folder: AnyPath, taken: Callable[[Segment], None]):
        self.folder, self._taken = folder, taken
        self.all: List[Segment] = []
        self.gone: List[Gone] = []  # behind the last one, once nobody writes any more
        self.damage: List[Damage] = []
        self._run_id = 0
        self._strays: Set[int] = set()
        self._missing_noted_to = self._ends_known = self._sure = 0
        self._sidecars: List[int] = []
        self._has_notes = False
        self.doubtful = False  # something may be lost, as far as is known without reading the rows

    def path(self, number: int) -> AnyPath:
        return self.folder / f"{number:06d}.spot"

    def note(self, place: Damage):
        if self.damage and self.damage[-1][:2] == place[:2]:  # met again, at the end of a run that still grows
            self.damage.pop()
        self.damage.append(place)

    def take_in(self):
        """Looks at all that there are, and at those that came."""
        names = self._names()
        self._look(names)
        self._sidecars = [number for number in (number_of(name, ".spotx") for name in names) if number is not None]
        self._sidecars.sort()
        self._has_notes = "lost" in names
        for number in self._numbers(names):
            # One that was made while the folder was listed may be missing in the list.
            self._take_missing(number, over=False)
            if number > self._next():
                if not self._holds(number):
                    self._note_stray(number)
                    continue
                self._take_missing(number, over=True)
            self._take_file(number)
        self._note_lost_ends()

    def _names(self) -> List[str]:
        if not self.folder.is_dir():
            raise self._not_a_run("is no folder")
        return self.folder.names() if isinstance(self.folder, StorePath) else os.listdir(self.folder)

    @staticmethod
    def _numbers(names: List[str]) -> List[int]:
        return sorted(number for number in (number_of(name, ".spot") for name in names) if number is not None)

    def _not_a_run(self, why: str) -> NotARun:
        runs = sorted(each.parent for each in self.folder.glob("*/000000.spot")) if self.folder.is_dir() else []
        there = f"; there are runs in it: {', '.join(map(str, runs[:5]))}" if runs else ""
        return NotARun(f"\"{self.folder}\" {why}: give the folder that a hook recorded into "
                       f"(hook.path() says which){there}")

    def _look(self, names: List[str]):
        """A run whose first segment is lost is still a run where it was resumed, or had come to the next."""
        why = self._first_segment()
        if why is None or not isinstance(why, (NotARun, Corrupt)):
            if why is not None:
                raise why
            return
        if not any(number > 0 and self._holds(number, any_run=True) for number in self._numbers(names)):
            raise why

    def _first_segment(self) -> Optional[SpotterError]:
        """Why this is no run, if it is none."""
        try:
            with open_file(self.path(0)) as file:
                data = Bytes(file, size_of(file))
                if data.end < HEAD_BYTES:
                    return None  # just beginning
                _, why = read_head(data)
                if why is None or isinstance(why, UnknownVersion):
                    return why
                if row_frame(data, HEAD_BYTES) is not None:  # only its head is damaged
                    return None
                head = data[0:16]
                if head[:4] != b"\x50\x2a\x4d\x18" and head[8:15] != b"spotter":
                    return self._not_a_run("has a 000000.spot that is not a spotter segment")
                if any(isinstance(each, Frame) for each in Walk(data, 0, chained=True)):
                    return None
                return Corrupt(f"\"{self.folder}\" has a 000000.spot that begins as a spotter segment does, and nothing "
                               "behind that can be read")
        except FileNotFoundError:
            return self._not_a_run("holds no 000000.spot")

    def _holds(self, number: int, any_run: bool = False) -> bool:
        """Whether the file is a segment of that number, of this run: by its head, or where that is damaged by its first
        row frame."""
        try:
            with open_file(self.path(number)) as file:
                data = Bytes(file, size_of(file))
                head, why = read_head(data)
                if head is not None:
                    return head.number == number and (any_run or self._run_id in (0, head.run_id))
                return not isinstance(why, UnknownVersion) and row_frame(data, HEAD_BYTES) is not None
        except FileNotFoundError:
            return False

    def has_begun(self) -> bool:
        return self.path(0).is_file() or self.path(0).with_suffix(".spotx").is_file()

    def _next(self) -> int:
        return self.all[-1].number + 1 if self.all else 0

    def _take_missing(self, end: int, over: bool):
        """The writer made the files in order, so those that are missing still, though a later one is there, were
        removed: over them, or to the first."""
        first = self._next()
        for number in range(first, min(end, first + 4096)):
            if self.path(number).is_file():
                self._take_file(number)
                continue
            if not over:
                return
            if number >= self._missing_noted_to:
                self.note(Damage(str(self.path(number)), 0, 0))
            self._missing_noted_to = max(self._missing_noted_to, number + 1)

    def _take_file(self, number: int):
        wanted = self._next()
        if number >= wanted:
            if not self.path(number).is_file():
                return
            if self.all:  # whole before the next one was begun, but it may have been read before that
                self._extend(self.all[-1].number)
            fresh = Segment(self.path(number), number)
            fresh.behind_lost = number > wanted
            self.doubtful = self.doubtful or fresh.behind_lost
            self.all.append(fresh)
        self._extend(number)

    def _extend(self, number: int):
        mine = [each for each in self.all if each.number == number][-1]
        self._extend_one(mine)
        if mine.superseded and not mine.whole() and mine is self.all[-1]:  # it was thinned while it was known in part
            rest = Segment(mine.path, number)
            rest.attempt, rest.ids, rest.skip = mine.attempt, dict(mine.ids), sum(group.frames for group in mine.groups)
            self.all.append(rest)
            self._extend_one(rest)

    def _extend_one(self, mine: Segment):
        known = mine.unusable
        mine.extend(self._run_id)
        if mine.head is not None:
            self._run_id = mine.head.run_id
        self.doubtful = self.doubtful or mine.unusable or bool(mine.lost)
        if mine.unusable and not known:  # its rows may mean anything
            if mine.stray:
                self._note_stray(mine.number)
            else:
                self.note(Damage(str(mine.path), 0, mine.size))
        self._taken(mine)

    def _note_stray(self, number: int):
        if number in self._strays:
            return
        self._strays.add(number)
        size = 0
        with suppress(FileNotFoundError), open_file(self.path(number)) as file:
            size = size_of(file)
        self.note(Damage(str(self.path(number)), 0, size))

    # -- ends --

    def attempt_of(self, place: int) -> int:
        """In which attempt it was written; UNKNOWN where neither it nor those around it say."""
        before = behind = place
        while before > 0 and self.all[before].attempt == UNKNOWN:
            before -= 1
        while behind + 1 < len(self.all) and self.all[behind].attempt == UNKNOWN:
            behind += 1
        return self.all[before].attempt if self.all[before].attempt == self.all[behind].attempt else UNKNOWN

    @staticmethod
    def _goes_on(mine: Segment, following: Segment) -> bool:
        """The same attempt wrote both; where the first has no head, the closes before the second tell."""
        if following.head is None:
            return False
        if mine.head is None:
            return following.head.first_ordinal > mine.next_ordinal()
        return (mine.head.run_id, mine.head.attempt) == (following.head.run_id, following.head.attempt)

    def _note_lost_ends(self):
        while self._ends_known + 1 < len(self.all):
            mine, following = self.all[self._ends_known:self._ends_known + 2]
            if following.size < HEAD_BYTES:
                return
            if not (mine.whole() or mine.superseded or following.stray):
                if self._goes_on(mine, following):
                    following.behind_lost = following.behind_lost or not self._is_recovered(self._ends_known)
                else:
                    mine.left_short = not mine.unusable and self._lacks_closes(self._ends_known)
                self.doubtful = self.doubtful or following.behind_lost or mine.left_short
            self._ends_known += 1

    def _leaves_open(self, place: int) -> bool:
        """The attempt that a place is of left values behind its last close, there or before."""
        attempt = self.attempt_of(place)
        for at in range(place, -1, -1):
            if self.attempt_of(at) != attempt:
                break
            for group in reversed(self.all[at].groups):
                if self.all[at].ends_open(group):
                    return True
                if group.closes > 0:
                    return False
        return False

    def _lacks_closes(self, place: int) -> bool:
        """The head behind a place counts closes, beyond an open step, that the place does not have."""
        head, known = self.all[place + 1].head, self.all[place].next_ordinal()
        if head is None or head.first_ordinal <= known:
            return False
        return head.first_ordinal - known > 1 or not self._leaves_open(place)

    def settle_ends(self, over: bool):
        """Behind `take_in`: what the ends of segments that nobody goes on from have lost, and once nobody writes any
        more (`over`) what is known to have stood behind all that is there."""
        cut = self._remembered()
        for mine, following in zip(self.all, self.all[1:] + [None]):
            decided = over or (following is not None and following.size >= HEAD_BYTES)
            goes_on = following is not None and self._goes_on(mine, following)
            if mine.left_torn or mine.superseded or not decided or goes_on:
                continue
            mine.left_torn = mine.has_torn_end() or (mine.number in cut and not mine.has_rows_past_end)
            self.doubtful = self.doubtful or mine.left_torn
        begun = {each.number for each in self.all if each.size >= HEAD_BYTES or each.superseded}
        last = self.all[-1].number if self.all else -1
        for number in self._sidecars if over and self.all else ():
            if number > last or (number not in begun and any(each.number == number for each in self.all)):
                self._note_gone(number)

    def _remembered(self) -> Set[int]:
        """Numbers of segments that the folder's file `lost` tells of."""
        found: Set[int] = set()
        if not self._has_notes:
            return found
        try:
            with open_file(self.folder / "lost") as file:
                text = file.read(1 << 20)
        except FileNotFoundError:
            return found
        for line in text.split(b"\n"):
            listed = re.fullmatch(rb"([0-9]+\.spot) ([0-9]+) ([0-9]+) ([0-9]+) ([0-9a-f]+)( .*)?", line)
            number = number_of(listed[1].decode(), ".spot") if listed else None
            if listed and number is not None and (self._run_id in (0, int(listed[5], 16))):
                found.add(number)
        return found

    def _note_gone(self, number: int):
        if any(each.number == number for each in self.gone):
            return
        try:
            with open_file(self.path(number).with_suffix(".spotx")) as file:
                side = Sidecar(file.read())
        except FileNotFoundError:
            return
        owner = side.owner()
        if side.count == 0 or (owner is not None and self._run_id not in (0, owner.run_id)):
            return
        known, spans = side.lost()
        self.gone.append(Gone(number, UNKNOWN if owner is None else owner.attempt, spans if known else None))
        self.doubtful = True
        self.note(Damage(str(self.path(number)), 0, 0))

    # -- looking at every frame --

    def survey(self):
        for segment in self.all:
            for offset, size in segment.survey():
                self.note(Damage(str(segment.path), offset, size))
        for segment in self.all:
            if segment.has_rows_past_end and not segment.end_noted:
                self.note(Damage(str(segment.path), segment.surveyed_to, segment.size - segment.surveyed_to))
                segment.end_noted = True
        self._note_cuts()

    def _note_cuts(self):
        """A segment that the same attempt went on from was closed before: one whose end is missing was cut."""
        while self._sure + 1 < len(self.all):
            mine, following = self.all[self._sure:self._sure + 2]
            if following.size < HEAD_BYTES:
                return  # it is just beginning
            known = mine.closed or mine.superseded or mine.end_noted or following.stray
            cut = mine.left_short or (self._goes_on(mine, following) and not self._is_recovered(self._sure))
            if cut and not known:
                self.note(Damage(str(mine.path), mine.surveyed_to, mine.size - mine.surveyed_to))
            self._sure += 1

    def _is_recovered(self, place: int) -> bool:
        """With its ring in shared memory, an attempt may go on from a segment without an end: a recovery wrote the next
        one."""
        head = self.all[place + 1].head
        attempt = UNKNOWN if head is None else head.attempt
        for segment in self.all[place:]:
            if segment.head is not None and segment.head.attempt != attempt:
                return False
            if segment.has_marks():
                return True
        return False
