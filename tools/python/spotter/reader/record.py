# SPDX-License-Identifier: Apache-2.0
"""What one worker recorded."""

from __future__ import annotations

import sys
import time
from collections import ChainMap
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Dict, List, Optional, Tuple

import numpy as np

if sys.platform != "win32":
    from fcntl import LOCK_NB, LOCK_SH, flock

from ..errors import Corrupt, IoError, NotARun, SpotterError, UnknownVersion
from ..model import MODES, Collection, Coverage, Damage, Finding, Info, Step, Totals
from ..model import ACTIVATIONS, FLAGS, ROLES
from .asked import AskedSteps, Request, Requests, request_of
from .at_step import AtStep
from .frames import Bytes, Group, row_frame
from .history import Summaries
from .layout import DECLARES, DROPS, DTYPES, FINDINGS, HEAD_BYTES, RUN_END, TEXT, Fields, Malformed
from .packed import Column, Packed
from .rows import OBSERVED, SCALAR, Sample, each_row, sample_of
from .segment import Segment, read_head
from .store import AnyPath, StorePath, open_file, size_of


class Tensor:
    """What is known of a name: its last declaration, and where its rows are, taken in piece by piece."""

    def __init__(self, name: str):
        self.name, self.told = name, SimpleNamespace()  # told: its last declaration
        self.chunks: list = []  # (segment, list of entries or Column), in order of writing
        self.taken = 0  # how many of the record's pieces have been looked at
        self._columns: list = [[] for _ in range(6)]  # of `arrays`, those of the chunks that are in it
        self._arrays: Optional[SimpleNamespace] = None
        self._joined = 0
        self.summaries: Optional[Summaries] = None  # once a history was asked for
        self.locals: Dict[int, None] = {}  # the ids that it was ever declared with, in order
        self.members: Dict[int, int] = {}  # by attempt: bit i, that it is of the plan's collection i

    def ids_in(self, segment: Segment) -> List[int]:
        """The writer's ids of it, as a segment has them."""
        return [local for local in self.locals if segment.ids.get(local) is self]

    def take(self, pieces: list):
        of: Optional[Segment] = None
        locals_: List[int] = []
        for segment, piece in pieces[self.taken:]:
            if segment is not of:
                of, locals_ = segment, self.ids_in(segment)
            for local in locals_:
                rows = piece.column(local) if isinstance(piece, Packed) else piece.entries.get(local)
                if rows:
                    self.chunks.append((segment, rows))
                    self._arrays = None
        self.taken = len(pieces)

    def arrays(self) -> SimpleNamespace:
        """All rows: mode, index, ordinal, kind, and chunk and row in it."""
        if self._arrays is None:
            for number, (_, rows) in enumerate(self.chunks[self._joined:], self._joined):
                if isinstance(rows, Column):
                    kinds = rows.joined([np.full(len(at), SCALAR if item.scalar else OBSERVED, np.uint8) for item, at in rows.parts])
                    found: tuple = (rows.of.modes[rows.steps], rows.of.indices[rows.steps], rows.of.ordinals[rows.steps], kinds)
                else:
                    found = tuple(np.array(each, dtype) for each, dtype in
                                  zip(list(zip(*rows))[:4], (np.uint8, np.uint64, np.uint64, np.uint8)))
                size = len(found[0])
                for column, each in zip(self._columns, found + (np.full(size, number), np.arange(size))):
                    column.append(each)
            dtypes = (np.uint8, np.uint64, np.uint64, np.uint8, np.int64, np.int64)
            self._columns = [[np.concatenate(each) if each else np.empty(0, dtype)] for each, dtype in zip(self._columns, dtypes)]
            self._joined = len(self.chunks)
            names = ("mode", "index", "ordinal", "kind", "chunk", "row")
            self._arrays = SimpleNamespace(**{name: column[0] for name, column in zip(names, self._columns)})
        return self._arrays

    def sample(self, place: int) -> Tuple[Segment, Sample]:
        it = self.arrays()
        segment, rows = self.chunks[int(it.chunk[place])]
        row = int(it.row[place])
        return segment, rows.sample(row) if isinstance(rows, Column) else sample_of(rows[row])


@dataclass(frozen=True)
class Closed:
    """All closed steps of a worker, in order; `held` where anything was kept."""
    mode: np.ndarray
    index: np.ndarray
    ordinal: np.ndarray
    time: np.ndarray
    held: np.ndarray


class Record:
    """What one worker recorded."""

    def __init__(self, number: int, folder: AnyPath):
        self.folder, self.worker_of_folder = folder, number
        self.trouble: Optional[SpotterError] = None
        self.segments: List[Segment] = []
        self.tensors: Dict[str, Tensor] = {}
        self._names: Dict[tuple, Dict[int, Tensor]] = {}  # the ids of an attempt, which all its segments share
        self.collections: List[Collection] = []
        self.findings: List[Finding] = []
        self.coverages: List[Coverage] = []
        self.totals, self.earlier, self.bytes = Totals(), Totals(), 0
        self.attempt = self.worker = self.expected_workers = 0
        self.environment = ""
        self.begun_at = self.ended_at = self.looked_at = 0.0
        self.ended: Optional[int] = None
        self.why_ended, self.status = "", "running"
        self._damage: List[Damage] = []
        self._sure = 0  # segments that are whole, or noted as cut
        self._pieces: list = []  # (segment, rows of steps), in order of writing
        self._at: Optional[AtStep] = None  # the step that was asked for last
        self._taken = (0, 0)  # segment and group up to which they were taken
        self._closed: Optional[Closed] = None
        self._requests: Dict[int, List[Request]] = {}  # by attempt, of its collections
        self._requests_of: Dict[Tuple[int, int], Requests] = {}  # by attempt and membership
        self._asked = AskedSteps()

    @property
    def number(self) -> int:
        return self.worker_of_folder or self.worker

    # -- taking in what is there --

    def refresh(self):
        self._at = None
        live = self._is_locked()  # asked first: a run that ends now is still seen as ended next time
        try:
            self._take_in()
            self.trouble = None
        except OSError as why:
            self.trouble = IoError(f"{why.filename or self.folder}: {why.strerror or why}")
        except SpotterError as why:
            self.trouble = why
        if self.ended is not None:
            self.status = "finished" if self.ended == 1 else "failed"
        elif live is not None:
            self.status = "running" if live else "died"
        self.looked_at = time.time()
        self.bytes = sum(each.size for each in self.segments if not each.superseded or each.whole())
        if self.trouble:
            raise self.trouble

    def _is_locked(self) -> Optional[bool]:
        """Whether a live process writes; None where that cannot be told."""
        if isinstance(self.folder, StorePath):
            return self.folder.is_alive()
        if sys.platform != "win32":  # which has no such locks: a run without an end reads as running there
            try:
                with open_file(self.folder / "lock") as file:
                    flock(file, LOCK_SH | LOCK_NB)
                    return False
            except FileNotFoundError:
                return None if (self.folder / "lock").exists() else False
            except BlockingIOError:
                return True
            except OSError:
                return None
        return None

    def _not_a_run(self, why: str) -> NotARun:
        runs = sorted(each.parent for each in self.folder.glob("*/000000.spot")) if self.folder.is_dir() else []
        there = f"; there are runs in it: {', '.join(map(str, runs[:5]))}" if runs else ""
        return NotARun(f"\"{self.folder}\" {why}: give the folder that a hook recorded into (hook.path() says which){there}")

    def _path(self, number: int) -> AnyPath:
        return self.folder / f"{number:06d}.spot"

    def _take_in(self):
        if not self.folder.is_dir():
            raise self._not_a_run("is no folder")
        why = self._first_segment()
        if why is not None and not self._later_segment_is_sound():
            raise why
        number = 0
        while True:
            path, following = self._path(number), self.segments[-1].number + 1 if self.segments else 0
            if not path.is_file():
                if not self._path(number + 1).is_file() and not path.is_file():
                    break
                if not path.is_file() and number == following:
                    self._note(Damage(str(path), 0, 0))
            if number == following:
                if number > 0:  # whole before the next one was begun, but it may have been read before that
                    self._extend(number - 1)
                self.segments.append(Segment(path, number))
            self._extend(number)
            number += 1

    def _first_segment(self) -> Optional[SpotterError]:
        """Why this is no run, if it is none."""
        try:
            with open_file(self._path(0)) as file:
                data = Bytes(file, size_of(file))
                if data.end < HEAD_BYTES:
                    return None  # just beginning
                _, why = read_head(data)
                if why is None or isinstance(why, Corrupt) or (isinstance(why, NotARun) and row_frame(data, HEAD_BYTES)):
                    return None
                return why if isinstance(why, UnknownVersion) else self._not_a_run("has a 000000.spot that is no spotter segment")
        except FileNotFoundError:
            return self._not_a_run("holds no 000000.spot")

    def has_first_segment(self) -> bool:
        return self._path(0).is_file()

    def _later_segment_is_sound(self) -> bool:
        number = 1
        while self._path(number).is_file():
            with open_file(self._path(number)) as file:
                if read_head(Bytes(file, size_of(file)))[1] is None:
                    return True
            number += 1
        return False

    def _extend(self, number: int):
        mine = [each for each in self.segments if each.number == number][-1]
        self._extend_one(mine)
        if mine.superseded and not mine.whole() and mine is self.segments[-1]:  # it was thinned while it was known in part
            rest = Segment(mine.path, number)
            rest.attempt, rest.ids, rest.skip = mine.attempt, dict(mine.ids), sum(group.frames for group in mine.groups)
            self.segments.append(rest)
            self._extend_one(rest)

    def _extend_one(self, mine: Segment):
        known = mine.foreign
        mine.extend()
        if mine.head is not None and not isinstance(mine.ids, ChainMap):
            mine.ids = ChainMap(mine.ids, self._names.setdefault((mine.head.run_id, mine.head.attempt), {}))
        if mine.foreign and not known:
            self._note(Damage(str(mine.path), 0, mine.size))
        wanted = DECLARES | FINDINGS | RUN_END | DROPS
        for group in mine.groups[mine.noticed:]:
            for frame in mine.frames_of(group) if group.flags & wanted else ():
                for kind, at, body in each_row(frame.body) if frame.flags & wanted else ():
                    try:
                        self._take_notice(mine, kind, body)
                    except Malformed:
                        self._damage.append(Damage(str(mine.path), frame.offset + 48 + at, len(body)))
        mine.noticed = len(mine.groups)

    def _note(self, place: Damage):
        if self._damage and self._damage[-1][:2] == place[:2]:  # met again, at the end of a run that still grows
            self._damage.pop()
        self._damage.append(place)

    def _take_notice(self, segment: Segment, kind: int, body: bytes):
        f = Fields(body)
        if kind == 1:
            f.take(8)
            attempt, worker, begun_at, _ = f.varint(0xFFFFFFFF), f.varint(0xFFFFFFFF), f.f64(), f.u8()
            f.text()
            collections = [Collection(f.text(), f.text()) for _ in range(f.varint())]
            expected = f.varint(0xFFFFFFFF) if f.left() else 0
            self.environment = f.text() if f.left() else ""
            if attempt > self.attempt:
                self.ended, self.coverages, self.earlier = None, [], self.totals
            self.attempt = segment.attempt = attempt
            self._requests[attempt] = [request_of(each.keeps) for each in collections]
            self._requests_of.clear()
            self.worker, self.begun_at, self.collections, self.expected_workers = worker, begun_at, collections, expected
        elif kind == 2:
            local, name = f.varint(0xFFFFFFFE), f.text()
            roles = f.u8(), f.u8()
            told = SimpleNamespace(role=roles[0], partner_role=roles[1], partner=f.varint(0xFFFFFFFF) - 1, flags=f.varint(0xFFFFFFFF),
                                   activation=f.u8(), dtype=f.u8(TEXT), shape=f.shape(), collections=f.fixed("Q", 8)[0],
                                   segment=segment)
            tensor = self.tensors.setdefault(name, Tensor(name))
            tensor.told = told
            tensor.members[segment.attempt] = tensor.members.get(segment.attempt, 0) | told.collections
            segment.ids[local] = tensor
            tensor.locals[local] = None
            if isinstance(segment.ids, ChainMap):
                segment.ids.maps[-1][local] = tensor
        elif kind == 6:
            step, texts = f.step(), [f.text() for _ in range(6)]
            measured, threshold = f.fixed("2d", 16)
            how, severity, decision, decision_is_set, others = f.u8(4), f.u8(2), f.u8(2), f.u8(1), f.varint(0xFFFFFFFF)
            if not decision_is_set:
                decision = 2 if severity == 2 else 0
            rule, reason, tensor_name, measure, remedy, detail = texts
            self.findings.append(Finding(("info", "warning", "error")[severity], rule, reason, Step(MODES[step[0]], step[1]),
                                         tensor_name, measure, measured, ("", "<", "<=", ">", ">=")[how], threshold, remedy, detail,
                                         ("proceed", "skip_update", "stop")[decision], others, self.number))
        elif kind == 7:
            dropped, thinned, closes = f.varint(), f.varint(), f.varint()
            self.totals = self.totals._replace(dropped=self.earlier.dropped + dropped, thinned=self.earlier.thinned + thinned,
                                               closes_lost=self.earlier.closes_lost + closes)
        elif kind == 9:
            how, why = f.u8(2), f.text()
            refused, stored, dropped, thinned, _ = (f.varint() for _ in range(5))
            ended_at = f.f64()
            coverages = [Coverage(f.text(), f.varint(), f.varint(), f.varint(), f.varint(), f.text(), self.number, 1)
                         for _ in range(f.varint())]
            if how == 0:
                raise Malformed("a run that ended in no way")
            self.ended, self.why_ended, self.ended_at, self.coverages = how, why, ended_at, coverages
            before = self.earlier
            self.totals = self.totals._replace(stored=before.stored + stored, dropped=before.dropped + dropped,
                                               thinned=before.thinned + thinned, refused=before.refused + refused)

    # -- the rows of steps --

    def complete(self) -> list:
        """Reads the rows of all steps, if they have not been: (segment, piece) in order of writing."""
        place, number = self._taken
        while place < len(self.segments):
            segment = self.segments[place]
            for group in segment.groups[number:]:
                self._pieces += [(segment, piece) for piece in self.pieces_of(segment, group)]
            if place + 1 == len(self.segments):
                number = len(segment.groups)
                break
            place, number = place + 1, 0
        if self._taken != (place, number):
            self._taken, self._closed = (place, number), None
        return self._pieces

    def closed(self) -> Closed:
        pieces = self.complete()
        if self._closed is None:
            columns: list = [[] for _ in range(5)]
            ordinal, held = 0, False
            for _, piece in pieces:
                held = held and piece.start == ordinal  # a step that was never closed keeps its ordinal to itself
                if isinstance(piece, Packed):
                    kept = piece.held.copy()
                    kept[0] = kept[0] or held
                    found: tuple = (piece.modes, piece.indices, piece.ordinals, piece.times, kept)
                    held = False
                elif piece.closes:
                    found = tuple(np.array(each, dtype) for each, dtype in
                                  zip(zip(*piece.closes), (np.uint8, np.uint64, np.uint64, np.float64, bool)))
                    found[4][0] |= held
                    held = piece.open_held
                else:
                    held, ordinal = held or piece.open_held, piece.start
                    continue
                ordinal = piece.next
                for column, each in zip(columns, found):
                    column.append(each)
            dtypes = (np.uint8, np.uint64, np.uint64, np.float64, bool)
            self._closed = Closed(*(np.concatenate(each) if each else np.empty(0, dtype) for each, dtype in zip(columns, dtypes)))
        return self._closed

    def closing_of(self, ordinals: np.ndarray) -> np.ndarray:
        """Which closing has each of some ordinals; -1 where none has."""
        closed = self.closed()
        if not len(closed.ordinal):
            return np.full(len(ordinals), -1)
        at = np.minimum(np.searchsorted(closed.ordinal, ordinals), len(closed.ordinal) - 1)
        return np.where(closed.ordinal[at] == ordinals, at, -1)

    def requests_of(self, tensor: Tensor, attempt: int) -> Requests:
        """What the collections of an attempt asked for of a tensor; of a plan that was exchanged meanwhile those of both."""
        members = tensor.members.get(attempt, 0)
        if (attempt, members) not in self._requests_of:
            chosen = (each for i, each in enumerate(self._requests.get(attempt, ())) if members >> i & 1)
            self._requests_of[attempt, members] = tuple(chosen)
        return self._requests_of[attempt, members]

    def asked(self) -> tuple:
        """(modes, indices, times) of the closed steps at which there are values, or what else a collection asked for."""
        return self.closed_of(*self._asked.take(self.complete(), self.requests_of))

    def closed_of(self, modes: np.ndarray, indices: np.ndarray, ordinals: np.ndarray) -> tuple:
        """(modes, indices, times) of the closings of observed steps, of those that were closed."""
        closed, at = self.closed(), self.closing_of(ordinals)
        right = at >= 0
        right[right] = (closed.mode[at[right]] == modes[right]) & (closed.index[at[right]] == indices[right])
        return closed.mode[at[right]], closed.index[at[right]], closed.time[at[right]]

    def rows_of(self, tensor: Tensor) -> SimpleNamespace:
        """All rows of a tensor, as its `arrays` has them."""
        tensor.take(self.complete())
        return tensor.arrays()

    def latest_at(self, tensor: Tensor, step: Step):
        """The last observation of a tensor at a step: (segment, ordinal, what it says), from the few groups that may hold it."""
        at = MODES.index(step.mode), step.index
        if self._at is None or self._at.step != at:
            self._at = AtStep(self, *at)
        return self._at.latest(tensor)

    def pieces_of(self, segment: Segment, group: Group) -> list:
        return segment.pieces_of(group, lambda offset, size: self._damage.append(Damage(str(segment.path), offset, size)))

    # -- what follows from all of it --

    def state(self, step: Step) -> str:
        closed, mode = self.closed(), MODES.index(step.mode)
        mine = closed.index[closed.mode == mode]
        if np.any(mine == step.index):
            return "present"
        return "absent" if self.past(step) or self.status != "running" else "pending"

    def is_closed(self, step: Step) -> bool:
        closed = self.closed()
        return bool(np.any((closed.mode == MODES.index(step.mode)) & (closed.index == step.index)))

    def past(self, step: Step) -> bool:
        closed = self.closed()
        return bool(np.any((closed.mode == MODES.index(step.mode)) & (closed.index > step.index)))

    def age(self) -> float:
        times = self.closed().time
        last = max(self.begun_at, float(times[-1]) if len(times) else 0.0, self.ended_at if self.ended is not None else 0.0)
        return max(0.0, self.looked_at - last)

    def damage(self) -> List[Damage]:
        self.complete()
        for segment in self.segments:
            for offset, size in segment.survey():
                self._note(Damage(str(segment.path), offset, size))
        self._note_cuts()
        return list(self._damage)

    def _note_cuts(self):
        """A segment that the same attempt went on from was closed before: one whose end is missing was cut."""
        while self._sure + 1 < len(self.segments):
            mine, following = self.segments[self._sure:self._sure + 2]
            if following.size < HEAD_BYTES:
                return  # it is just beginning
            head, next_head = (read_head(each.bytes())[0] if each.file else None for each in (mine, following))
            goes_on = next_head is not None and (next_head.first_ordinal > mine.next_ordinal() if head is None else
                                                 (head.run_id, head.attempt) == (next_head.run_id, next_head.attempt))
            if goes_on and not mine.closed and not mine.superseded and not self._is_recovered(next_head.attempt):
                self._note(Damage(str(mine.path), mine.surveyed_to, mine.size - mine.surveyed_to))
            self._sure += 1

    def _is_recovered(self, attempt: int) -> bool:
        """With its ring in shared memory, an attempt may go on from a segment without an end: a recovery wrote the next one."""
        for segment in self.segments[self._sure:]:
            head = read_head(segment.bytes())[0] if segment.file else None
            if head is not None and head.attempt != attempt:
                return False
            if segment.has_marks:
                return True
        return False

    def info(self, name: str) -> Info:
        """Of a name that is known."""
        told = self.tensors[name].told
        partner = told.segment.ids.get(told.partner)
        members = tuple(each.name for i, each in enumerate(self.collections[:64]) if told.collections >> i & 1)
        flags = tuple(flag for i, flag in enumerate(FLAGS) if told.flags >> i & 1)

        def role(number):
            return ROLES[number] if number < len(ROLES) else "other"

        return Info(name, role(told.role), DTYPES[told.dtype][0], told.shape, partner.name if partner else None,
                    role(told.partner_role), flags, ACTIVATIONS[min(told.activation, 4)], members)
