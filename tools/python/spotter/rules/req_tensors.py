# SPDX-License-Identifier: Apache-2.0
"""Which tensors a rule needs before it can judge a step."""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional

from ..exceptions import TensorUnavailable
from ..tensors import Tensor
from ..trials import Trial


class RequiredTensorsForTrial:
    def __init__(self, trial: Trial):
        self.trial = trial
        self._steps: Dict[str, List[int]] = {}

    def add(self, name: str, steps: Iterable[int], should_match_regex: bool = False) -> None:
        """A tensor and the global steps at which it is needed; with should_match_regex each whose name the expression is found in.
        TensorUnavailable where there is none of that name; none for an expression is none."""
        if not should_match_regex and not self.trial.has_tensor(name):
            raise TensorUnavailable(name)
        for each in self.trial.tensor_names(regex=name) if should_match_regex else [name]:
            self._steps.setdefault(each, []).extend(steps)

    def get_tensor_steps(self, name: str) -> List[int]:
        return self._steps[name]

    def get_names(self) -> List[str]:
        return list(self._steps)

    def get(self) -> List[Tensor]:
        return [self.trial.tensor(each) for each in self._steps]

    def clear(self) -> None:
        self._steps.clear()

    def fetch(self) -> None:
        """Waits for all those steps. TensorUnavailableForStep where nothing of a tensor was kept at one, neither values nor statistics."""
        self.trial.wait_for_steps(sorted({step for steps in self._steps.values() for step in steps}))
        for name, steps in self._steps.items():
            tensor = self.trial.tensor(name)
            for step in steps:
                tensor.shape(step)


class RequiredTensors:
    """The same of several trials. trial: the rule's base trial, unless another is given."""

    def __init__(self, base_trial: Trial, other_trials: Optional[Iterable[Trial]] = None):
        self.base_trial = base_trial
        self._of = {id(each): RequiredTensorsForTrial(each) for each in [base_trial, *(other_trials or ())]}

    def _for(self, trial: Optional[Trial]) -> RequiredTensorsForTrial:
        return self._of[id(self.base_trial if trial is None else trial)]

    def add(self, name: str, steps: Iterable[int], trial: Optional[Trial] = None, should_match_regex: bool = False) -> None:
        self._for(trial).add(name, steps, should_match_regex)

    def get_tensor_steps(self, name: str, trial: Optional[Trial] = None) -> List[int]:
        return self._for(trial).get_tensor_steps(name)

    def get_names(self, trial: Optional[Trial] = None) -> List[str]:
        return self._for(trial).get_names()

    def get(self, trial: Optional[Trial] = None) -> List[Tensor]:
        return self._for(trial).get()

    def clear(self) -> None:
        for each in self._of.values():
            each.clear()

    def fetch(self) -> None:
        for each in self._of.values():
            each.fetch()
