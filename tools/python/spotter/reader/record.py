# SPDX-License-Identifier: Apache-2.0
"""What one worker recorded."""

from __future__ import annotations

import sys
import time
from collections import ChainMap
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Dict, List, Optional, Set, Tuple

import numpy as np

if sys.platform != "win32":
    from fcntl import LOCK_NB, LOCK_SH, flock

from ..errors import IoError, SpotterError
from ..model import MODES, Collection, Coverage, Damage, Finding, Info, Step, Totals
from ..model import ACTIVATIONS, FLAGS, ROLES
from .asked import AskedSteps, Pauses, Request, Requests, request_of
from .at_step import AtStep
from .frames import Group
from .history import Summaries
from .layout import DECLARES, DROPS, DTYPES, FINDINGS, RUN_END, TEXT, UNKNOWN, Fields, Malformed
from .lost import SUPERSEDED, WITHIN_STEP, Doubts
from .packed import Column, Packed
from .rows import LOOSE, OBSERVED, SCALAR, Sample, each_row, sample_of
from .run_segments import RunSegments
from .segment import Plan, Segment
from .store import AnyPath, StorePath, open_file


class Tensor:
    """What is known of a name: its last declaration, and where its rows are, taken in piece by piece."""

    def __init__(self, name: str):
        self.name, self.declaration = name, SimpleNamespace()  # declaration: its last declaration
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

    def forget_rows(self):
        """To begin anew: rows that nothing named may be of it."""
        self.chunks, self.taken, self._columns = [], 0, [[] for _ in range(6)]
        self._arrays, self._joined, self.summaries = None, 0, None

    def place_of(self, row: int) -> Tuple[Segment, int]:
        """Where a row of `arrays` is: its segment, and its offset there."""
        it = self.arrays()
        segment, rows = self.chunks[int(it.chunk[row])]
        return segment, rows.of.offset if isinstance(rows, Column) else rows[int(it.row[row])][5]

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
        self._files = RunSegments(folder, self._take_segment)
        self.segments, self.gone = self._files.all, self._files.gone
        self.attempt_of = self._files.attempt_of
        self._malformed: Set[tuple] = set()  # rows that were reported as damage
        self._begun_in = UNKNOWN  # the attempt of the last run_begin
        self._doubts: Optional[Doubts] = None
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
        self._pieces: list = []  # (segment, rows of steps), in order of writing
        self._at: Optional[AtStep] = None  # the step that was asked for last
        self._taken = (0, 0)  # segment and group up to which they were taken
        self._closed: Optional[Closed] = None
        self._unsound = 0  # groups that were read, and are not whole
        self._requests: Dict[int, List[Request]] = {}  # by attempt, of its collections
        self._plans: Dict[int, Set[int]] = {}  # by attempt: how many collections there were after each exchange
        self._requests_of: Dict[Tuple[int, Plan], Requests] = {}  # by membership and plan
        self._asked = AskedSteps()

    @property
    def number(self) -> int:
        return self.worker_of_folder or self.worker

    # -- taking in what is there --

    def refresh(self):
        self._at = None
        live = self._is_locked()  # asked first: a run that ends now is still seen as ended next time
        try:
            self._files.take_in()
            self.trouble = None
        except OSError as why:
            self.trouble = IoError(f"{why.filename or self.folder}: {why.strerror or why}")
        except SpotterError as why:
            self.trouble = why
        if self.ended is not None:
            self.status = "finished" if self.ended == 1 else "failed"
        elif live is not None:
            self.status = "running" if live else "died"
        if self.trouble is None:
            try:
                self._files.settle_ends(self.status != "running")
            except OSError as why:
                self.trouble = IoError(f"{why.filename or self.folder}: {why.strerror or why}")
        self._doubts = None
        self.looked_at = time.time()
        self.bytes = sum(each.size for each in self.segments if not each.superseded or each.whole())
        if self.trouble:
            raise self.trouble

    def _is_locked(self) -> Optional[bool]:
        """Whether a live process writes; None where that is unknown."""
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

    def has_begun(self) -> bool:
        return self._files.has_begun()

    def unreadable(self) -> bool:
        """There is a record, and nothing of it could ever be read."""
        return self.trouble is not None and not self.segments

    def _take_segment(self, mine: Segment):
        """A segment has been looked at."""
        if mine.head is not None and not isinstance(mine.ids, ChainMap):
            mine.ids = ChainMap(mine.ids, self._names.setdefault((mine.head.run_id, mine.head.attempt), {}))
        if mine.head is not None and mine.attempt == UNKNOWN:
            self._take_attempt(mine, mine.head.attempt, mine.head.time)
        wanted = DECLARES | FINDINGS | RUN_END | DROPS
        for group in mine.groups[mine.noticed:]:
            for frame in mine.frames_of(group) if group.flags & wanted else ():
                for kind, at, body in each_row(frame.body) if frame.flags & wanted else ():
                    try:
                        self._take_notice(mine, kind, body)
                    except Malformed:
                        self._note_malformed(mine, frame.offset + 48 + at, len(body))
        mine.noticed = len(mine.groups)
        beside, mine.beside = mine.beside, None
        if beside is not None and mine.head is not None:
            begun = self._begun_in == mine.head.attempt
            for kind, body in beside.declarations(mine.head.run_id, mine.head.attempt):
                if kind == 2 or not begun:
                    with suppress(Malformed):
                        self._take_notice(mine, kind, body)

    def _take_attempt(self, segment: Segment, attempt: int, time: float):
        """By the head of a segment, and by the run_begin of each."""
        if attempt > self.attempt:
            self.ended, self.coverages, self.earlier = None, [], self.totals
        if attempt > self.attempt or self.begun_at == 0:
            self.begun_at = time  # its run_begin may be lost
        self.attempt = segment.attempt = attempt

    def _note_malformed(self, segment: Segment, offset: int, size: int):
        if (segment.path, offset) not in self._malformed:  # all may have been read twice
            self._malformed.add((segment.path, offset))
            self._files.note(Damage(str(segment.path), offset, size))

    def _take_notice(self, segment: Segment, kind: int, body: bytes):
        f = Fields(body)
        if kind == 1:
            f.take(8)
            attempt, worker, begun_at, _ = f.varint(0xFFFFFFFF), f.varint(0xFFFFFFFF), f.f64(), f.u8()
            f.text()
            collections = [Collection(f.text(), f.text()) for _ in range(f.varint())]
            expected = f.varint(0xFFFFFFFF) if f.left() else 0
            self.environment = f.text() if f.left() else ""
            self._take_attempt(segment, attempt, begun_at)
            self._begun_in = attempt
            if len(collections) >= len(self._requests.get(attempt, ())):
                self._requests[attempt] = [request_of(each.keeps) for each in collections]
            self._plans.setdefault(attempt, {0}).add(len(collections))
            segment.collections = len(collections)
            self._requests_of.clear()
            self.worker, self.begun_at, self.collections, self.expected_workers = worker, begun_at, collections, expected
        elif kind == 2:
            local, name = f.varint(0xFFFFFFFE), f.text()
            roles = f.u8(), f.u8()
            declaration = SimpleNamespace(
                role=roles[0], partner_role=roles[1], partner=f.varint(0xFFFFFFFF) - 1, flags=f.varint(0xFFFFFFFF),
                activation=f.u8(), dtype=f.u8(TEXT), shape=f.shape(), collections=f.fixed("Q", 8)[0], segment=segment)
            if local >= segment.size:  # a segment declares every id below its largest, so one beyond its bytes is no id
                raise Malformed("an id beyond all that there can be")
            if local not in segment.ids and any(local in each.nameless() for each in self.segments):
                self._forget_rows()  # some that nothing named may be of it
            tensor = self.tensors.setdefault(name, Tensor(name))
            tensor.declaration = declaration
            tensor.members[segment.attempt] = tensor.members.get(segment.attempt, 0) | declaration.collections
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
            self.findings.append(Finding(("note", "warning", "error")[severity], rule, reason, Step(MODES[step[0]], step[1]),
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

    def requests_of(self, tensor: Tensor, plan: Plan) -> Requests:
        """What the collections of a plan asked for of a tensor. A plan that is exchanged begins a segment, and its collections follow those
        before. Where a segment's run_begin is lost they are those of all plans of the attempt."""
        attempt, end = plan
        members = tensor.members.get(attempt, 0)
        if (members, plan) not in self._requests_of:
            begin = max((each for each in self._plans.get(attempt, ()) if end is not None and each < end), default=0)
            chosen = list(enumerate(self._requests.get(attempt, ())))[begin:end]
            self._requests_of[members, plan] = tuple(each for i, each in chosen if members >> i & 1)
        return self._requests_of[members, plan]

    def pauses(self) -> Pauses:
        texts = []
        if "control" in self.tensors:
            tensor = self.tensors["control"]
            it = self.rows_of(tensor)
            for place in np.flatnonzero(it.kind == SCALAR).tolist():
                sample = tensor.sample(place)[1]
                if sample.raw is not None and sample.dtype == TEXT:
                    texts.append((int(it.ordinal[place]), bytes(sample.raw).decode(errors="replace")))
        heads = [(each.attempt, each.head.first_ordinal) for each in self.segments if each.head is not None]
        return Pauses(texts, [now[1] for before, now in zip(heads, heads[1:]) if before[0] != now[0]])

    def asked(self) -> tuple:
        """(modes, indices, times) of the closed steps at which there are values, or what else a collection asked for."""
        return self.closed_of(*self._asked.take(self.complete(), self.requests_of, self.pauses()))

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
        """The last observation of a tensor at a step: (segment, ordinal, what it says), from the few groups that may
        hold it. Of a record that may have lost something it says nothing."""
        at = MODES.index(step.mode), step.index
        if self._files.doubtful or self._unsound:
            return None
        if self._at is None or self._at.step != at:
            self._at = AtStep(self, *at)
        found = self._at.latest(tensor)
        return None if self._unsound or any(segment.nameless() for segment in self.segments) else found

    def pieces_of(self, segment: Segment, group: Group) -> list:
        known = group.pieces is not None
        pieces = segment.pieces_of(group, lambda offset, size: self._note_malformed(segment, offset, size))
        self._unsound += not known and not group.whole
        return pieces

    def _forget_rows(self):
        self._doubts = None
        for each in self.tensors.values():
            each.forget_rows()

    # -- what is lost --

    def doubts(self) -> Optional[Doubts]:
        """None where nothing is lost."""
        self.complete()
        lost = self._files.doubtful or self._unsound or any(segment.nameless() for segment in self.segments)
        if lost and self._doubts is None:
            self._doubts = Doubts(self)
        return self._doubts if lost else None

    def may_lack(self, step: Step, attempt: int = UNKNOWN) -> bool:
        """Rows of the step may be lost, in that attempt."""
        doubts = self.doubts()
        return doubts is not None and doubts.may_lack(MODES.index(step.mode), step.index, attempt)

    def may_hide(self, step: Step) -> bool:
        """What is lost, or was being written when the writer ended, may hold the step."""
        doubts = self.doubts()
        return self.unreadable() or (doubts is not None and doubts.may_hide(MODES.index(step.mode), step.index))

    def lacks_some(self) -> bool:
        """Anything is lost, or was not finished, of whatever step."""
        doubts = self.doubts()
        return self.unreadable() or (doubts is not None and doubts.any())

    def is_doubtful(self, tensor: Tensor, row: int, step: Step, attempt: int = UNKNOWN) -> bool:
        """Lost rows may hold what was observed later than a row. Within a step that is so only of a tensor that is
        known to be observed several times in one."""
        doubts = self.doubts()
        if doubts is None:
            return False
        it = tensor.arrays()
        segment, offset = tensor.place_of(row)
        place = next(i for i, each in enumerate(self.segments) if each is segment)
        found = doubts.behind(place, offset, int(it.ordinal[row]), MODES.index(step.mode), step.index, attempt)
        if found != WITHIN_STEP:
            return found == SUPERSEDED
        ordinals = it.ordinal[it.kind != LOOSE]
        return bool(np.any(ordinals[1:] == ordinals[:-1]))

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
        pieces = self.complete()
        self._files.survey()
        found = {}
        for segment, piece in pieces:
            for local in segment.nameless().intersection(piece.ids()):
                for offset, size in piece.rows_of(local):
                    found[str(segment.path), offset] = Damage(str(segment.path), offset, size)
        return self._files.damage + list(found.values())

    def info(self, name: str) -> Info:
        """Of a name that is known."""
        declaration = self.tensors[name].declaration
        partner = declaration.segment.ids.get(declaration.partner)
        members = tuple(each.name for i, each in enumerate(self.collections[:64]) if declaration.collections >> i & 1)
        flags = tuple(flag for flag, bit in FLAGS.items() if declaration.flags & bit)

        def role(number):
            return ROLES[number] if number < len(ROLES) else "other"

        return Info(name, role(declaration.role), DTYPES[declaration.dtype][0], declaration.shape, partner.name if partner else None,
                    role(declaration.partner_role), flags, ACTIVATIONS[min(declaration.activation, 4)], members)
