# SPDX-License-Identifier: Apache-2.0
"""Steps by one number, whatever their mode: what smdebug calls global steps, and spotter ordinals."""

from __future__ import annotations

from typing import Dict, List, Optional, Set, Tuple

from .model import MODES, Step
from .run import Trial

Range = Optional[Tuple[Optional[int], Optional[int]]]


class GlobalSteps:
    """The closed steps of a run, as far as `update` has been told of them. Of several workers a number is the lowest worker's.

    span: (begin, end) of global steps, end excluded; what lies outside is as if it had not been recorded."""

    def __init__(self, run: Trial, span: Range):
        self._run, self._span = run, span
        self._taken: Dict[int, int] = {}  # how many closings of each worker are in
        self._step_of: Dict[int, Tuple[int, Step]] = {}  # with the worker that says so
        self._number_of: Dict[Step, Tuple[int, int]] = {}
        self._held: Set[Step] = set()  # at which anything was kept
        self._last: Dict[int, Dict[str, int]] = {}  # of each worker the last index of each mode, and its last ordinal as ""
        self.update()

    def update(self) -> None:
        """Takes in what the run's last refresh brought."""
        for record in self._run._records:
            closed, worker = record.closed(), record.number
            last = self._last.setdefault(worker, {})
            begin = self._taken.get(worker, 0)
            for mode, index, ordinal, held in zip(closed.mode[begin:].tolist(), closed.index[begin:].tolist(),
                                                  closed.ordinal[begin:].tolist(), closed.held[begin:].tolist()):
                step = Step(MODES[mode], index)
                last[""] = max(last.get("", -1), ordinal)
                last[step.mode] = max(last.get(step.mode, -1), index)
                if not self._is_in(ordinal):
                    continue
                if held:
                    self._held.add(step)
                if worker <= self._step_of.get(ordinal, (worker,))[0]:
                    self._step_of[ordinal] = (worker, step)
                if worker <= self._number_of.get(step, (worker,))[0]:  # of a step that was closed twice the latest
                    self._number_of[step] = (worker, ordinal)
            self._taken[worker] = len(closed.mode)

    def _is_in(self, ordinal: int) -> bool:
        begin, end = self._span or (None, None)
        return (begin is None or ordinal >= begin) and (end is None or ordinal < end)

    def step_of(self, number: int) -> Optional[Step]:
        """None, too, of a closing that a later attempt of the run made again: the step has the number of that."""
        found = self._step_of.get(number)
        return found[1] if found and self._number_of[found[1]][1] == number else None

    def number_of(self, step: Step) -> Optional[int]:
        found = self._number_of.get(step)
        return found[1] if found else None

    def is_held(self, step: Step) -> bool:
        return step in self._held

    def numbers(self, steps: List[Step], mode: Optional[str]) -> List[int]:
        """Those of some steps that are in: within their mode, or of all modes; sorted, each once."""
        if mode is not None:
            return sorted({step.index for step in steps if step.mode == mode and step in self._number_of})
        return sorted({self._number_of[step][1] for step in steps if step in self._number_of})

    def held(self) -> List[Step]:
        return list(self._held)

    def is_decided(self, step: Step) -> bool:
        """Every worker has closed the step, or one behind it, or will close none any more."""
        return not self._run._awaiting and all(record.status != "running" or self._last[record.number].get(step.mode, -1) >= step.index
                                               for record in self._run._records)

    def is_behind(self, number: int) -> bool:
        """Every worker has closed a step with a larger number, or will close none any more."""
        return not self._run._awaiting and all(record.status != "running" or self._last[record.number].get("", -1) > number
                                               for record in self._run._records)
