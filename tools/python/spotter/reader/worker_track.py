# SPDX-License-Identifier: Apache-2.0
"""One tensor over time, as one worker recorded it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

from ..errors import BadConfig, Corrupt, IoError, NoPayload, NoSuchName, NoSuchStep, NotInStep, NotYet, SpotterError
from ..model import MODES, Distribution, Loose, Step
from .asked import Kept, are_asked
from .layout import DTYPES, TEXT, UNKNOWN
from .history import Summaries
from .packed import Column
from .payload import decoded
from .record import Record, Tensor
from .rows import LOOSE, NONFINITE, SCALAR, VALUES, Place, Sample, sample_of
from .segment import Segment
from .statistics import (FIELDS_OF_SUMMARY, QUANTILE_LEVELS, STATISTICS, distribution_of, formula_of, measured_of,
                         summaries_of_scalars, summary_of)


def _no_payload(it: Sample, statistic: Optional[str] = None) -> NoPayload:
    """Of a row without values; statistic: what was asked for, and is none of those that were kept."""
    summary = it.summary if it.summary is not None else {"mask": 0}
    kept = [name for name in STATISTICS if measured_of(name, summary)[1]]
    kept += ["quantiles"] * (it.quantiles is not None) + ["histogram"] * (it.histogram is not None)
    there = ", ".join(kept) or "the shape"
    if it.thinned:
        remedy = "give the run a larger ring, or a larger limit (options::run_bytes)"
    else:
        remedy = f"let a collection keep {'it, or ' if statistic else ''}`payload`"
    if statistic:
        said = f"{statistic} was not kept at this step, nor the values that it follows from, only statistics ({there}): {remedy}"
    else:
        said = f"only statistics were kept at this step ({there}): ask stat(), or a step of payload_steps(), or {remedy}"
    found = NoPayload(said)
    found.kept = tuple(kept)
    return found


def _superseded_by_lost() -> Corrupt:
    return Corrupt("bytes that cannot be read, or that were not written to their end, may hold a later one of this step: "
                   "damage() lists what is damaged, attempt= asks for one attempt, history() has all that is there")


def _in_lost() -> Corrupt:
    return Corrupt("what was recorded of the step may be in bytes that cannot be read: damage() lists them")


def value_of(segment: Segment, it: Sample, elements=None, bits=False):
    """The values of a row: an array, a NumPy scalar of what has no axes, a str of a text."""
    place = it.place
    if it.raw is not None:
        if elements is not None and elements != (0, 1):
            raise BadConfig("so many elements are not there: it is one number")
        place, stored = Place(it.dtype, "C", (), ()), np.frombuffer(it.raw, DTYPES[it.dtype][3]).copy()
    elif place is not None:
        if elements is not None:
            count = math.prod(place.shape)
            if min(elements) < 0 or sum(elements) > count:
                raise BadConfig(f"the tensor does not have that many elements: it has {count} at this step")
        stored = segment.values(place, elements)
    else:
        raise _no_payload(it)
    dtype = place.dtype
    if dtype == TEXT:
        return stored.tobytes().decode("utf-8", "backslashreplace")
    values = stored if bits else decoded(stored, dtype)
    return values if elements is not None else values.reshape(place.shape, order=place.order)[()]


def flat_value_of(segment: Segment, it: Sample) -> np.ndarray:
    """The same in the order of memory."""
    values = np.atleast_1d(value_of(segment, it))
    if values.dtype.kind == "U":
        raise NotInStep("undefined: a text has no statistics")
    return values.ravel(order="A" if it.place is None else it.place.order)


class WorkerTrack:
    """One tensor as one worker recorded it."""

    def __init__(self, record: Record, name: str, peers: Sequence[Record] = ()):
        """peers: all workers of the run."""
        self.record, self.name, self._peers = record, name, peers
        self.tensor = record.tensors.get(name, Tensor(name))

    def rows(self) -> SimpleNamespace:
        return self.record.rows_of(self.tensor)

    def find(self, step: Step, nth: Optional[int] = None, attempt: Optional[int] = None):
        """(segment, ordinal, what it says): of a step that was closed twice the latest; within it the last observation, or the n-th."""
        self._want_known(step)
        if nth is None and attempt is None:
            found = self.record.latest_at(self.tensor, step)
            if found:
                return found
        it = self.rows()
        at = np.flatnonzero((it.mode == MODES.index(step.mode)) & (it.index == step.index) & (it.kind != LOOSE))
        if attempt is not None:
            at = self._of_attempt(step, at, attempt)
        elif len(at) and self.record.is_doubtful(self.tensor, int(at[-1]), step):
            raise _superseded_by_lost()
        if len(at) and nth is not None:
            # Any that are lost before it would be counted, too.
            if self.record.may_lack(step, self._attempt_of(int(at[-1]))):
                raise _superseded_by_lost()
            at = at[it.ordinal[at] == it.ordinal[at[-1]]][nth:nth + 1] if nth >= 0 else at[:0]
        if not len(at):
            raise self._missing(step)
        segment, sample = self.tensor.sample(int(at[-1]))
        return segment, int(it.ordinal[at[-1]]), sample

    def _of_attempt(self, step: Step, at: np.ndarray, attempt: int) -> np.ndarray:
        """Of rows at a step those of an attempt."""
        attempts = [self._attempt_of(row) for row in at.tolist()]
        mine = at[[its == attempt for its in attempts]] if len(at) else at
        unsure = self.record.is_doubtful(self.tensor, int(mine[-1]), step, attempt) if len(mine) else \
            self.record.may_lack(step, attempt)
        if unsure or UNKNOWN in attempts:
            raise _superseded_by_lost()
        if len(at) and not len(mine):
            raise NotInStep(f"the step was not observed in attempt {attempt}: attempts() says how many there were")
        return mine

    def _attempt_of(self, row: int) -> int:
        segment = self.tensor.place_of(row)[0]
        return self.record.attempt_of(next(i for i, each in enumerate(self.record.segments) if each is segment))

    def _want_known(self, step: Step) -> None:
        if self.record.unreadable():
            why = self.record.trouble
            text = (f"nothing of worker {self.record.number} can be read, which may hold it: "
                    f"of(worker) reads another. {why}")
            raise (IoError if isinstance(why, IoError) else Corrupt)(text)
        if self.name in self.record.tensors:
            return
        if self.record.may_lack(step):
            raise _in_lost()
        raise NoSuchName(f"\"{self.name}\" was never observed: names() lists what was")

    def _missing(self, step: Step) -> SpotterError:
        if self.record.may_lack(step):
            return _in_lost()
        if self.record.is_closed(step):
            return NotInStep("the step is there, but nothing of this tensor was kept at it: ask steps()")
        if self.record.status == "running" and not self.record.past(step):
            return NotYet("the run has not come to this step: refresh() and ask again")
        if any(each.is_closed(step) for each in self._peers):
            return NotInStep(f"the step is there, but worker {self.record.number} has not closed it: "
                             f"steps(worker={self.record.number}) lists those it has")
        return NoSuchStep("the run has no such step: run.steps() lists what it has")

    def seen_at(self, step: Step) -> bool:
        try:
            self.find(step)
        except SpotterError:
            return False
        return True

    def summary(self, step: Step) -> dict:
        """What was stored; of a scalar what follows from it."""
        segment, _, it = self.find(step)
        return dict(it.summary) if it.summary is not None else summary_of(flat_value_of(segment, it))

    def stat(self, step: Step, name: str) -> float:
        which = formula_of(name)
        segment, _, it = self.find(step)
        found = it.summary
        if found is None or ((found["mask"] & which[0]) != which[0] and it.place is not None):
            found = summary_of(flat_value_of(segment, it), which[0])
        value, known = measured_of(name, found)
        if not known and (found["mask"] & which[0]) == which[0]:
            raise NotInStep("undefined: the tensor has no finite element at this step")
        if not known:
            raise _no_payload(it, name)
        return float(value)

    def distribution(self, step: Step, quantiles: bool, histogram: bool) -> Distribution:
        segment, _, it = self.find(step)
        stored = Distribution(None, None, None, None)
        if it.quantiles is not None and len(it.quantiles) == 8 * len(QUANTILE_LEVELS):
            stored = stored._replace(quantiles=np.frombuffer(it.quantiles, "<f8").copy())
        if it.histogram is not None and len(it.histogram[2]) == 64:
            stored = stored._replace(low=it.histogram[0], high=it.histogram[1], bins=np.array(it.histogram[2]))
        if (stored.quantiles is not None or not quantiles) and (stored.bins is not None or not histogram):
            return stored
        nothing_finite = it.place is None and it.summary is not None and it.summary["mask"] & NONFINITE and \
            it.summary["count"] == sum(it.summary.get(name, 0) for name in ("nan", "pos_inf", "neg_inf"))
        found = None if nothing_finite else distribution_of(flat_value_of(segment, it), quantiles, histogram)
        if found is None:
            raise NotInStep("undefined: the tensor has no finite element at this step")
        return found

    def time(self, step: Step) -> float:
        _, ordinal, it = self.find(step)
        if it.time is not None:
            return it.time
        at = int(self.record.closing_of(np.array([ordinal], np.uint64))[0])
        if at < 0:
            raise NotYet("the step was not closed, so it has no time: refresh() and ask again")
        return float(self.record.closed().time[at])

    def shape(self, step: Step) -> Tuple[int, ...]:
        _, _, it = self.find(step)
        if it.raw is not None:
            return ()
        return it.shape if it.shape is not None else self.tensor.declaration.shape

    def observations(self, mode: Optional[int], loose=False) -> np.ndarray:
        """Places of the rows at steps of a mode, or of those between steps."""
        it = self.rows()
        wanted = (it.kind == LOOSE) == loose
        return np.flatnonzero(wanted if mode is None else wanted & (it.mode == mode))

    def chunks(self, chosen: np.ndarray):
        """(segment, rows, where their results go in an array of all rows) of the chunks that hold any of the chosen rows."""
        it = self.rows()
        for number in np.unique(it.chunk[chosen]).tolist():
            first, last = (int(np.searchsorted(it.chunk, each)) for each in (number, number + 1))
            yield (*self.tensor.chunks[number], slice(first, last))

    def history(self, name: str, mode: Optional[int]):
        """(modes, indices, values) of every observation; NaN where the statistic is unknown."""
        chosen, it = self.observations(mode), self.rows()
        if self.tensor.summaries is None:
            self.tensor.summaries = Summaries()
        values = measured_of(name, self.tensor.summaries.of(self.tensor, chosen, formula_of(name)[0]))[0]
        return it.mode[chosen], it.index[chosen], values

    def times(self, mode: Optional[int]) -> np.ndarray:
        """Seconds since 1970 of every observation, as `time` says; NaN while its step is open."""
        chosen, it = self.observations(mode), self.rows()
        closed, closing = self.record.closed(), self.record.closing_of(it.ordinal)
        times = np.full(len(it.mode), np.nan)
        times[closing >= 0] = closed.time[closing[closing >= 0]]
        for _, rows, at in self.chunks(chosen):
            if isinstance(rows, Column):
                times[at] = rows.times()
                continue
            for place, entry in enumerate(rows, at.start):
                given = sample_of(entry).time if entry[3] == SCALAR else None
                times[place] = times[place] if given is None else given
        return times[chosen]

    def loose(self) -> List[Loose]:
        found, it = [], self.rows()
        for place in self.observations(None, loose=True).tolist():
            segment, sample = self.tensor.sample(place)
            value = value_of(segment, sample)
            found.append(Loose(np.nan if sample.time is None else sample.time, value if isinstance(value, str) else value.item(),
                               int(it.ordinal[place])))
        return found

    def closings(self, mode: Optional[int], kept: Kept = "anything") -> tuple:
        """(modes, indices, times) of the closed steps at which something was kept, in order."""
        it, chosen = self.rows(), self.observations(mode)
        whole = (it.kind[chosen] == VALUES) | (it.kind[chosen] == SCALAR)  # scalars are always whole
        if kept == "asked":
            all_plans = list(dict.fromkeys(segment.plan for segment, _ in self.tensor.chunks))
            of_chunks: np.ndarray = np.array([all_plans.index(segment.plan) for segment, _ in self.tensor.chunks], np.int64)
            plans, pauses = of_chunks[it.chunk[chosen]], self.record.pauses()
            for number in np.unique(plans[~whole]).tolist():
                at = np.flatnonzero(~whole & (plans == number))
                rows = chosen[at]
                whole[at] = are_asked(self.record.requests_of(self.tensor, all_plans[number]), it.mode[rows], it.index[rows],
                                      lambda i: self.tensor.sample(int(rows[i]))[1]) & ~pauses.at(it.ordinal[rows])
        chosen = chosen if kept == "anything" else chosen[whole]
        return self.record.closed_of(it.mode[chosen], it.index[chosen], it.ordinal[chosen])


def steps_of(closings: list) -> List[Step]:
    """(modes, indices, times) of some workers as steps, each once, in the order of its first closing."""
    modes, indices, times = (np.concatenate(each) if each else np.empty(0) for each in (list(zip(*closings)) or ((), (), ())))
    if len(closings) > 1:
        order = np.argsort(times, kind="stable")
        modes, indices = modes[order], indices[order]
    first = [at[np.unique(indices[at], return_index=True)[1]] for at in (np.flatnonzero(modes == mode) for mode in range(3))]
    chosen = np.sort(np.concatenate(first))
    return [Step(MODES[mode], index) for mode, index in zip(modes[chosen].tolist(), indices[chosen].tolist())]
