# SPDX-License-Identifier: Apache-2.0
"""One tensor over time, as smdebug asks for it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple, Union

import numpy as np

from .errors import BadConfig, NoPayload, NoSuchName, NoSuchStep, NoSuchWorker, NotInStep, NotYet
from .exceptions import InvalidWorker, ShapeUnavailableForStep, StepNotYetAvailable, StepUnavailable, TensorUnavailableForStep
from .mode_keys import ModeKeys
from .model import Step
from .reader.statistics import STATISTICS, measured_of
from .track import Track

if TYPE_CHECKING:
    from .trials import Trial

AnyWorker = Union[str, int, None]


class StepState(Enum):
    """Of a step: UNAVAILABLE, nothing was kept there, and nothing will be. AVAILABLE. NOT_YET_AVAILABLE, it may still come."""
    UNAVAILABLE = 0
    AVAILABLE = 1
    NOT_YET_AVAILABLE = 2


_STATISTIC_OF = {"min": "minimum", "max": "maximum", "mean": "mean", "std": "stddev", "variance": "variance", "sum": "sum",
                 "prod": "product", "l1": "l1", "l2": "l2"}


def _statistic_of(reduction_name: str, of_abs: bool) -> str:
    """smdebug's reductions by spotter's names; others are spotter's statistics as they are."""
    plain = _STATISTIC_OF.get(reduction_name, reduction_name)
    name = f"{plain}_abs" if of_abs and plain not in ("l1", "l2") else plain  # a norm is of absolute values in any case
    if name not in STATISTICS:
        raise BadConfig(f"there is no reduction {reduction_name!r}{' of absolute values' if of_abs else ''}: there are "
                        f"{' '.join(_STATISTIC_OF)}, and {' '.join(STATISTICS)}")
    return name


class Tensor:
    """A step is a global one, unless a mode is given. worker: \"worker_2\" or 2; without one the lowest that has what is asked for.

    StepUnavailable, StepNotYetAvailable, TensorUnavailableForStep, InvalidWorker; Corrupt where the bytes are damaged."""

    def __init__(self, trial: "Trial", name: str):
        self.trial, self.name = trial, name

    def __repr__(self):
        return f"<tensor {self.name} of {self.trial.name}>"

    def _repr_html_(self) -> str:
        return self._track()._repr_html_()

    # -- where it was kept --

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL, show_incomplete_steps: bool = False, kept_for_rules: bool = False) -> List[int]:
        """Steps at which there are its values, or what else a collection of the plan asked for. kept_for_rules: those, too, at which
        there is only what rules of the loop looked at. Those with values are the keys of values()."""
        self.trial.maybe_refresh()
        return self.trial._numbers(self._track(), mode, show_incomplete_steps, "anything" if kept_for_rules else "asked").tolist()

    def prev_steps(self, step: int, n: Optional[int] = None, mode: ModeKeys = ModeKeys.GLOBAL) -> List[int]:
        """The last n of its steps, or all, up to and including `step`."""
        self.trial.maybe_refresh()
        found = self.trial._numbers(self._track(), mode, False, "asked")
        found = found[found <= step]
        return (found[-n:] if n else found).tolist()

    def workers(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL) -> List[str]:
        """Those that kept it at a step. TensorUnavailableForStep where none did."""
        self.trial.maybe_refresh()
        step = self.trial._step(step_num, mode)
        found = self._workers_at(step) if step is not None else []
        if not found:
            raise TensorUnavailableForStep(self.name, step_num, mode)
        return [f"worker_{each}" for each in found]

    def _workers_at(self, step: Step) -> List[int]:
        def is_there(worker: int) -> bool:
            try:
                self.trial.run[self.name].of(worker).shape(step)
            except (NoSuchName, NoSuchStep, NotInStep, NotYet):
                return False
            return True

        return [each for each in self.trial.run.workers() if is_there(each)]

    # -- what was kept --

    def value(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: AnyWorker = None):
        """The values: an array of the recorded shape, a NumPy scalar of what has no axes, a str of a text."""
        return self._ask(step_num, mode, worker, lambda track, step: track.value(step))

    def values(self, mode: ModeKeys = ModeKeys.GLOBAL, worker: AnyWorker = None) -> Dict[int, np.ndarray]:
        """Step to value, of those steps at which the values were kept."""
        self.trial.maybe_refresh()
        track = self._track(worker)
        steps = self.trial._numbers(track, mode, False, "values").tolist()
        return {number: track.value(self._known_step(number, mode)) for number in steps}

    def shape(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: AnyWorker = None) -> Tuple[int, ...]:
        """ShapeUnavailableForStep, a TensorUnavailableForStep, where nothing of it was kept."""
        return self._ask(step_num, mode, worker, lambda track, step: track.shape(step), ShapeUnavailableForStep)

    def shapes(self, mode: ModeKeys = ModeKeys.GLOBAL, worker: AnyWorker = None) -> Dict[int, Tuple[int, ...]]:
        self.trial.maybe_refresh()
        track = self._track(worker)
        steps = self.trial._numbers(track, mode, False, "asked").tolist()
        return {number: track.shape(self._known_step(number, mode)) for number in steps}

    def reduction_value(self, step_num: int, reduction_name: str, mode: ModeKeys = ModeKeys.GLOBAL, worker: AnyWorker = None,
                        abs: bool = False) -> np.float64:
        """min, max, mean, std, variance, sum, prod, l1 or l2, or one of spotter's STATISTICS; as stored, or else from the values.

        It is of the finite elements, and NaN where there are none; of a scalar that number. Ask for \"nonfinite\" how many are not."""
        name = _statistic_of(reduction_name, abs)

        def ask(track: Track, step: Step) -> np.float64:
            try:
                return np.float64(track.stat(step, name))
            except NotInStep:
                track.shape(step)  # raises where nothing is there; else there is no finite element
                return np.float64(np.nan)

        return self._ask(step_num, mode, worker, ask)

    def reduction_values(self, step_num: int, mode: ModeKeys = ModeKeys.GLOBAL, worker: AnyWorker = None
                         ) -> Dict[Tuple[str, bool], np.float64]:
        """(name, whether of absolute values) to value: those that were stored. Of a scalar all, which follow from it."""
        summary = self._ask(step_num, mode, worker, lambda track, step: track.summary(step))
        found = {}
        for name in _STATISTIC_OF:
            for of_abs in (False, True):
                value, known = measured_of(_statistic_of(name, of_abs), summary)
                if known:
                    found[name, of_abs] = np.float64(value)
        return found

    def _known_step(self, number: int, mode: ModeKeys) -> Step:
        step = self.trial._step(number, mode)
        assert step is not None  # it was listed
        return step

    def _track(self, worker: AnyWorker = None) -> Track:
        track = self.trial.run[self.name]
        if worker is None:
            return track
        number = worker[len("worker_"):] if isinstance(worker, str) and worker.startswith("worker_") else worker
        try:
            return track.of(int(number))
        except (NoSuchWorker, ValueError):
            raise InvalidWorker(worker) from None

    def _ask(self, step_num: int, mode: ModeKeys, worker: AnyWorker, question, missing=TensorUnavailableForStep):
        self.trial.maybe_refresh()
        step = self.trial._step(step_num, mode)
        if step is None:
            passed = self.trial._state(step_num, mode) == StepState.UNAVAILABLE
            raise StepUnavailable(step_num, mode) if passed else StepNotYetAvailable(step_num, mode)
        track = self._track(worker)
        try:
            return question(track, step)
        except NoPayload as why:
            said = str(why).replace("stat()", "reduction_value()").replace("payload_steps()", "values()")
            raise TensorUnavailableForStep(self.name, step_num, mode, True, said) from why
        except NotYet as why:
            raise StepNotYetAvailable(step_num, mode) from why
        except (NotInStep, NoSuchStep, NoSuchName) as why:
            if worker is not None and self._workers_at(step):
                raise InvalidWorker(worker) from why
            if self.trial._state(step_num, mode) == StepState.UNAVAILABLE:
                raise StepUnavailable(step_num, mode) from why
            raise missing(self.name, step_num, mode) from why
