# SPDX-License-Identifier: Apache-2.0
"""A run as a snapshot."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

import numpy as np

from .errors import BadConfig, NoMoreData, NoSuchName, NoSuchStep, NoSuchWorker, NotARun, NotYet, SpotterError, did_you_mean
from .glob import Glob
from .model import MODES, AnyStep, Collection, Coverage, Damage, Finding, Step, Totals, mode_number, step_of
from .reader.record import Record
from .reader.rows import LOOSE
from .reader.store import StorePath
from .reader.worker_track import steps_of
from .track import Track

BADNESS = {"finished": 0, "running": 1, "failed": 2, "died": 3}


class Trial:
    """A run as a snapshot. `run["fc1/w"]` is a Track.

    A run of several workers (threads, processes, ranks) is read as one: names and steps are the union, counts are sums, the status is
    the worst, and a value is the lowest worker's that holds it. Where a worker is named it speaks of that one."""

    def __init__(self, path, worker: Optional[int] = None):
        given = StorePath.of(str(path)) if str(path).startswith("s3://") else Path(path)
        self._given, self._only = str(given), worker
        self._path = given if isinstance(given, StorePath) else given.absolute()  # another folder may be the working one later
        self._records: List[Record] = []
        self._awaiting = False
        self.refresh()

    def __repr__(self):
        return f"<{self._given}: {self.status()}, {self.closed_steps()} steps, {len(self.names())} names>"

    def _repr_html_(self) -> str:
        from .notebook import of_run
        return of_run(self)

    def __getitem__(self, name: str) -> Track:
        """NoSuchName where nothing of that name was recorded (yet)."""
        if name not in self:
            raise NoSuchName(f"\"{name}\" was never observed{did_you_mean(str(name), self.names()) or ':'} names() lists what was")
        return Track(self, name)

    def __contains__(self, name: str) -> bool:
        return any(name in each.tensors for each in self._records)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    tensor = __getitem__

    @property
    def path(self) -> str:
        return self._given

    def workers(self) -> List[int]:
        return [each.number for each in self._records]

    def expected_workers(self) -> int:
        """How many workers the run was set up for; 0 where that is unknown."""
        own = [each for each in self._records if not (each.number > 0 and each.folder == self._path)]
        return max((each.expected_workers for each in own), default=0) if self._only is None else 0

    def environment(self) -> Dict[str, str]:
        """What the program was built with and runs on: compiler, flags, target, processor, cores, memory, system, threads, as far as
        the record says. Of several workers that of the lowest."""
        lines = self._records[0].environment.splitlines() if self._records else []
        return {key: value for key, _, value in (line.partition(" ") for line in lines)}

    def names(self, pattern: Optional[str] = None, *, mode: Optional[str] = None, step: Optional[AnyStep] = None,
              collection: Optional[str] = None, worker: Optional[int] = None) -> List[str]:
        """Names of which anything was kept, sorted; those that fulfil every argument given. `pattern` is a glob."""
        matches = Glob(pattern) if pattern is not None else None
        number, wanted = mode_number(mode), step_of(step) if step is not None else None
        found = set()
        for record in self._records:
            if worker is not None and record.number != worker:
                continue
            for name in self._kept_in(record):
                if matches is not None and not matches(name):
                    continue
                if collection is not None and collection not in record.info(name).collections:
                    continue
                if number is not None or wanted is not None:
                    it = record.rows_of(record.tensors[name])
                    seen = it.kind != LOOSE
                    seen = seen if number is None else seen & (it.mode == number)
                    seen = seen if wanted is None else seen & (it.mode == MODES.index(wanted.mode)) & (it.index == wanted.index)
                    if not seen.any():
                        continue
                found.add(name)
        return sorted(found)

    @staticmethod
    def _kept_in(record: Record):
        seen: Dict[int, tuple] = {}
        for segment, piece in record.complete():
            of = seen.setdefault(id(segment), (segment, set()))[1]
            of.update(piece.ids())
        return {segment.ids[local].name for segment, locals_ in seen.values() for local in locals_ if local in segment.ids}

    def steps(self, mode: Optional[str] = None, *, worker: Optional[int] = None, closed_by: str = "any") -> List[Step]:
        """Closed steps at which anything was kept, each once, in order of their first closing: by any worker, or only those that
        each has closed (closed_by="all"; a worker that has not begun has closed none)."""
        if closed_by not in ("any", "all"):
            raise BadConfig(f"closed_by is \"any\" or \"all\", not {closed_by!r}")
        records = self._records if worker is None else [each for each in self._records if each.number == worker]
        number, closings = mode_number(mode), []
        for record in records:
            closed = record.closed()
            chosen = closed.held if number is None else closed.held & (closed.mode == number)
            closings.append((closed.mode[chosen], closed.index[chosen], closed.time[chosen]))
        found = steps_of(closings)
        if closed_by == "all" and worker is None:
            sets = [set(zip(each.closed().mode.tolist(), each.closed().index.tolist())) for each in self._records]
            common = set.intersection(*sets) if not self._missing() else set()
            found = [step for step in found if (MODES.index(step.mode), step.index) in common]
        return found

    def modes(self) -> List[str]:
        return [mode for mode in MODES if self.steps(mode)]

    def collections(self) -> List[Collection]:
        found: Dict[str, Collection] = {}
        for record in self._records:
            for each in record.collections:
                found.setdefault(each.name, each)
        return list(found.values())

    def ordinal(self, step: AnyStep) -> int:
        """The place of a step among all closed steps of a worker, whatever their mode: the lowest worker's that has it."""
        wanted = step_of(step)
        for record in self._records:
            closed = record.closed()
            at = np.flatnonzero((closed.mode == MODES.index(wanted.mode)) & (closed.index == wanted.index))
            if len(at):
                return int(closed.ordinal[at[-1]])
        raise NoSuchStep("no such step was closed: steps() lists those that were")

    def step_at(self, ordinal: int) -> Step:
        for record in self._records:
            at = int(record.closing_of(np.array([ordinal], np.uint64))[0])
            if at >= 0:
                closed = record.closed()
                return Step(MODES[closed.mode[at]], int(closed.index[at]))
        raise NoSuchStep("no step with this ordinal was closed")

    def state(self, step: AnyStep, worker: Optional[int] = None) -> str:
        """present: closed. absent: passed, or the run is over. pending: it may still come. Of several workers pending while one is
        undecided, else present if any closed it."""
        wanted = step_of(step)
        states = [each.state(wanted) for each in (self._records if worker is None else [self._record(worker)])]
        if "pending" in states or (worker is None and self._awaiting):
            return "pending"
        return "present" if "present" in states else "absent"

    def status(self, worker: Optional[int] = None) -> str:
        """running, finished, failed or died (the writer is gone without a word); of several workers the worst."""
        if worker is not None:
            return self._record(worker).status
        found = [each.status for each in self._records]
        if self._missing():
            found.append("running" if self._awaiting else "died")
        return max(found, key=BADNESS.__getitem__)

    def over(self) -> bool:
        """Nobody writes any more."""
        return all(each.status != "running" for each in self._records)

    def age(self, worker: Optional[int] = None) -> float:
        """Seconds of silence at the last refresh: since the loop last began, closed a step or ended."""
        if worker is not None:
            return self._record(worker).age()
        running = [each.age() for each in self._records if each.status == "running"]
        return max(running) if running else min(each.age() for each in self._records)

    def why_ended(self) -> str:
        """Of a failed run the reason; of a finished one the first thing that went wrong, if any did."""
        if len(self._records) == 1 and not self._missing():
            return self._records[0].why_ended
        worst = self.status()
        for each in self._records:
            if each.status == worst and each.why_ended:
                return f"worker {each.number}: {each.why_ended}"
        missing = self._missing()
        return f"{missing} of {self.expected_workers()} workers never began" if worst == "died" and missing else ""

    def attempts(self) -> int:
        return max(each.attempt + 1 for each in self._records)

    def closed_steps(self) -> int:
        """Closings, of any mode, whether anything was kept or not; of all workers together."""
        return sum(len(each.closed().ordinal) for each in self._records)

    def findings(self) -> List[Finding]:
        """What the rules found while the run was recorded."""
        return [each for record in self._records for each in record.findings]

    def coverages(self) -> List[Coverage]:
        """How much each rule could judge; known once the run has ended. Equal ones of several workers are one."""
        found: List[Tuple[int, Coverage]] = []
        for record in self._records:
            for place, each in enumerate(record.coverages):
                at = next((i for i, (its, other) in enumerate(found)
                           if its == place and (other.rule, other.reason) == (each.rule, each.reason)), None)
                if at is None:
                    found.append((place, each))
                else:
                    other = found[at][1]
                    found[at] = (place, other._replace(matched=max(other.matched, each.matched), judged=other.judged + each.judged,
                                                       undecided=other.undecided + each.undecided, fired=other.fired + each.fired,
                                                       workers=other.workers + 1))
        return [each for _, each in found]

    def damage(self) -> List[Damage]:
        """Bytes that could not be read: values in them are Corrupt or absent, everything else is sound. Looks at every frame."""
        found = []
        for record in self._records:
            found += record.damage() + ([Damage(str(record.folder), 0, 0)] if record.trouble else [])
        return found

    def totals(self) -> Totals:
        return Totals(*(sum(each) for each in zip(*(record.totals._replace(bytes=record.bytes) for record in self._records))))

    def refresh(self) -> None:
        """Takes in what was written meanwhile, by workers that began meanwhile too. After an error everything read so far still holds;
        of several workers it is an error only if none can be read, else damage()."""
        first: Optional[SpotterError] = None
        sound = False
        for record in self._records + self._new_records():
            try:
                record.refresh()
                sound = True
            except SpotterError as why:
                first = first or why
                if record not in self._records and (self._only is not None or not record.has_begun()) and \
                        isinstance(why, NotARun):
                    continue  # about to begin
            if record not in self._records:
                self._records.append(record)
        self._records.sort(key=lambda each: each.number)
        self._awaiting = bool(self._missing()) and not self.over()
        if not sound and self._only is not None and isinstance(first, NotARun) and self._path.is_dir():
            raise NoSuchWorker(f"\"{self._given}\" holds no record of worker {self._only}: workers() of the whole run lists whose it holds")
        if first is not None and not sound:
            raise first

    def _new_records(self) -> List[Record]:
        known = {each.folder for each in self._records}
        if self._only is not None:
            folders = [(self._only, self._path / f"worker-{self._only}" if self._only else self._path)]
        else:
            folders = [(0, self._path)]
            try:
                below = self._path.names() if isinstance(self._path, StorePath) else os.listdir(self._path)
            except OSError:
                below = []
            folders += sorted((int(each[7:]), self._path / each) for each in below
                              if re.fullmatch(r"worker-[1-9][0-9]{0,9}", each) and int(each[7:]) < 1 << 32)
        return [Record(number, folder) for number, folder in folders if folder not in known]

    def wait(self, step: AnyStep, timeout: float) -> None:
        """Refreshes until the step is decided, for `timeout` seconds at most. NoSuchStep (the run has gone past it), NoMoreData (the run
        is over), NotYet (the time is up)."""
        wanted, end = step_of(step), time.monotonic() + timeout
        while True:
            self.refresh()
            state = self.state(wanted)
            if state == "present":
                return
            if state == "absent":
                if any(each.past(wanted) for each in self._records):
                    raise NoSuchStep("the run has gone past this step without it: steps() lists what it has")
                raise NoMoreData("the run is over and has no such step: steps() lists what it has")
            if time.monotonic() >= end:
                raise NotYet("the step was not decided in time: wait again, or look at age()")
            time.sleep(min(0.005, max(0.0, end - time.monotonic())))

    def _missing(self) -> int:
        """Workers that the run was set up for and that recorded nothing so far."""
        expected = self.expected_workers()
        return expected - sum(each.number < expected for each in self._records)

    def _record(self, worker: int) -> Record:
        for each in self._records:
            if each.number == worker:
                return each
        raise NoSuchWorker(f"the run has no worker {worker}: workers() lists those it has")


def open_trial(path, worker: Optional[int] = None) -> Trial:
    """Opens a run folder, with the records of all its workers or of one; never waits. NotARun, UnknownVersion, NoSuchWorker, IoError. A
    damaged or truncated record opens: what is whole can be read, damage() lists the rest."""
    return Trial(path, worker)
