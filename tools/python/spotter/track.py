# SPDX-License-Identifier: Apache-2.0
"""One tensor over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, List, Optional, Tuple

import numpy as np

from .errors import BadConfig, Corrupt, NoSuchName, NoSuchStep, NotInStep, NotYet, SpotterError
from .model import MODES, AnyStep, Distribution, Info, Loose, Step, mode_number, step_of
from .reader.record import Record
from .reader.statistics import QUANTILE_LEVELS, formula_of
from .reader.worker_track import WorkerTrack, steps_of, value_of

if TYPE_CHECKING:
    from .run import Trial

WEIGHTS = {"no_such_worker": 1, "no_such_name": 2, "no_such_step": 3, "not_in_step": 4, "not_yet": 5, "no_payload": 6}


class Track:
    """One tensor over time, read through the trial that it came from.

    Of several workers each read is of one, the lowest that holds what is asked for; `of(2)` reads that one and no other. A step is
    100 (of train), "eval:3", ("eval", 3) or a Step."""

    def __init__(self, run: "Trial", name: str, worker: Optional[int] = None):
        self._run, self._name, self._worker = run, name, worker

    def __repr__(self):
        info = self.info
        return f"<{self.name}: {info.role}, {info.dtype} {list(info.shape)}, {len(self.steps())} steps>"

    def _repr_html_(self) -> str:
        from .notebook import of_track
        return of_track(self)

    @property
    def name(self) -> str:
        return self._name

    @property
    def info(self) -> Info:
        """Role, type, shape and so on as last declared, by the lowest worker that knows it."""
        found = next((record.info(self._name) for record in self._records() if self._name in record.tensors), None)
        if found is None:
            raise NoSuchName(f"\"{self._name}\" was never observed: names() lists what was")
        return found

    def of(self, worker: int) -> "Track":
        """What one worker recorded of it. NoSuchWorker."""
        self._run._record(worker)
        return Track(self._run, self._name, worker)

    def steps(self, mode: Optional[str] = None) -> List[Step]:
        """Closed steps at which something of it was kept, each once, in order of time."""
        return steps_of([each.closings(mode_number(mode)) for each in self._parts()])

    def payload_steps(self, mode: Optional[str] = None) -> List[Step]:
        """Those at which the values were kept."""
        return steps_of([each.closings(mode_number(mode), "values") for each in self._parts()])

    def last(self, count: int, step: AnyStep) -> List[Step]:
        """The last `count` steps up to and including `step`, of its mode."""
        until = step_of(step)
        return [each for each in self.steps(until.mode) if each.index <= until.index][-count:] if count > 0 else []

    def value(self, step: AnyStep, *, nth: Optional[int] = None, attempt: Optional[int] = None,
              elements: Optional[Tuple[int, int]] = None, bits: bool = False):
        """The values at a step, as an array of the recorded shape, in your hands: a NumPy scalar of what has no axes, a str of a text.

        bf16 and f8 come as float32; `bits` gives what is stored. nth: of several observations in the step one, from 0 on (else the
        last). attempt: as that attempt of a resumed run saw it. elements (first, count): some of them, flat, in the order of memory;
        only the blocks that hold them are unpacked. NoSuchName, NoSuchStep, NotYet, NotInStep, NoPayload, Corrupt."""
        wanted = step_of(step)

        def ask(each):
            segment, _, it = each.find(wanted, nth, attempt)
            return value_of(segment, it, elements, bits)

        return self._lowest(ask, wanted)

    def values(self, mode: Optional[str] = None, *, skip_corrupt: bool = False) -> Iterator[Tuple[Step, np.ndarray]]:
        """(step, value) for each step at which the values were kept, one at a time. A damaged one raises Corrupt, unless it is skipped."""
        for step in self.payload_steps(mode):
            try:
                value = self.value(step)
            except Corrupt:
                if not skip_corrupt:
                    raise
                continue
            yield step, value

    def stat(self, step: AnyStep, name: str) -> float:
        """A statistic (STATISTICS lists them), as stored or else from the values: the same number, to the bit."""
        wanted = step_of(step)
        return self._lowest(lambda each: each.stat(wanted, name), wanted, derived=True)

    def summary(self, step: AnyStep) -> dict:
        """Everything that was stored about the values at a step, by the names of docs/format.md; `mask` says which terms."""
        wanted = step_of(step)
        return self._lowest(lambda each: each.summary(wanted), wanted)

    def distribution(self, step: AnyStep, *, quantiles: bool = True, histogram: bool = True) -> Distribution:
        """Quantiles and histogram of the finite values, as stored or else from the values."""
        wanted = step_of(step)
        return self._lowest(lambda each: each.distribution(wanted, quantiles, histogram), wanted, derived=True)

    def quantile(self, step: AnyStep, level: float) -> float:
        """The smallest value that at least this share of the finite values, one of QUANTILE_LEVELS, does not exceed."""
        at = np.flatnonzero(np.abs(QUANTILE_LEVELS - level) < 1e-12)
        if not len(at):
            raise BadConfig("quantiles are kept at QUANTILE_LEVELS; for others read the values: value()")
        levels = self.distribution(step, histogram=False).quantiles
        assert levels is not None  # they were asked for
        return float(levels[at[0]])

    def time(self, step: AnyStep) -> float:
        """Seconds since 1970: as given with a scalar, or else of the step's close. NotYet while the step is open."""
        wanted = step_of(step)
        return self._lowest(lambda each: each.time(wanted), wanted)

    def shape(self, step: AnyStep) -> Tuple[int, ...]:
        wanted = step_of(step)
        return self._lowest(lambda each: each.shape(wanted), wanted)

    def history(self, stat: str = "mean", mode: Optional[str] = None) -> Tuple[np.ndarray, np.ndarray]:
        """A statistic over time: step indices (uint64) and values, a point for every observation, NaN where it is unknown. The
        mode may be left out where only one was seen. Of several workers that of the lowest that observed it; NaN where
        a lower one may have, and cannot be read."""
        number = self._only_mode(mode)
        formula_of(stat)
        for each in self._parts():
            modes, indices, values = each.history(stat, number)
            if len(indices):
                lower = self._below(each.record)
                hidden = [any(record.may_hide(Step(MODES[mode], index)) for record in lower)
                          for mode, index in zip(modes.tolist(), indices.tolist())] if lower else []
                return indices, np.where(hidden, np.nan, values) if any(hidden) else values
        return np.empty(0, np.uint64), np.empty(0)

    def times(self, mode: Optional[str] = None) -> np.ndarray:
        """Seconds since 1970 of each point of `history`; NaN while a step is open."""
        number = self._only_mode(mode)
        return next((found for found in (each.times(number) for each in self._parts()) if len(found)), np.empty(0))

    def loose(self) -> List[Loose]:
        """Scalars that were given between steps; of several workers those of the lowest that gave any. None where a
        lower one lacks some of its record, and with it may lack these."""
        for record in self._records():
            found = WorkerTrack(record, self._name).loose()
            if found or record.lacks_some():
                return found
        return []

    def _below(self, record: Record) -> List[Record]:
        """Lower workers whose record lacks something, or ends in what was not finished."""
        return [each for each in self._records()
                if each.number < record.number and (each.unreadable() or each.doubts() is not None)]

    def _records(self) -> List[Record]:
        return self._run._records if self._worker is None else [self._run._record(self._worker)]

    def _parts(self) -> List[WorkerTrack]:
        return [WorkerTrack(record, self._name) for record in self._records() if self._name in record.tensors]

    def _only_mode(self, mode: Optional[str]) -> Optional[int]:
        if mode is not None:
            return mode_number(mode)
        seen = sorted({each for part in self._parts() for each in np.unique(part.rows().mode[part.observations(None)]).tolist()})
        if len(seen) > 1:
            raise BadConfig(f"\"{self._name}\" was seen in {' and '.join(MODES[each] for each in seen)}: say mode=\"{MODES[seen[0]]}\"")
        return None

    def _lowest(self, ask, step: Step, derived: bool = False):
        """The answer of the lowest worker that has one, else the error that says most; Corrupt where a lower one may
        have it and cannot be read. Where what is asked for may be undefined (derived), a worker that observed it at the
        step has an answer all the same."""
        failure: Optional[SpotterError] = None
        records = self._records()
        for at, record in enumerate(records):
            each = WorkerTrack(record, self._name, self._run._records)
            try:
                found, failed = ask(each), None
            except SpotterError as why:
                weight = WEIGHTS.get(why.code, 0)
                if weight and not (derived and isinstance(why, NotInStep) and each.seen_at(step)):
                    if failure is None or weight > WEIGHTS[failure.code]:
                        failure = why
                    continue
                failed = why
            if any(lower.may_hide(step) for lower in records[:at]):
                raise Corrupt("a lower worker may have recorded it in bytes that cannot be read, or that were not written to "
                              f"their end: damage() lists what is damaged, of({record.number}) reads one that has it")
            if failed is not None:
                raise failed
            return found
        if self._worker is None and self._run._awaiting and isinstance(failure, (NoSuchStep, NotInStep)):
            raise NotYet("a worker of the run has not begun yet: refresh() and ask again")
        assert failure is not None  # there is a worker, and it had no answer
        raise failure
