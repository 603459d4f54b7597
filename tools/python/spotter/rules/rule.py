# SPDX-License-Identifier: Apache-2.0
"""What a rule is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Iterable, Optional

from ..analysis.utils import no_refresh
from ..exceptions import RuleEvaluationConditionMet
from ..trials import Trial, logger
from .action import Actions, AnyActions
from .req_tensors import RequiredTensors


class Rule(ABC):
    """Derive from it, and write `invoke_at_step`; `set_required_tensors` where steps that lack a tensor are to be passed over.

    action_str: what is done each time that the condition is met: actions, or JSON that names them (docs/python.md)."""

    def __init__(self, base_trial: Trial, action_str: AnyActions = None, other_trials: Optional[Iterable[Trial]] = None):
        self.base_trial, self.other_trials = base_trial, other_trials
        self.trials = [base_trial, *(other_trials or ())]
        self.req_tensors = RequiredTensors(base_trial, other_trials)
        self.logger, self.rule_name = logger, type(self).__name__
        self._actions = Actions(action_str, self.rule_name)
        # A rule may keep its books there; nothing here reads them.
        self.report = {"RuleTriggered": 0, "Violations": 0, "Details": {}, "Datapoints": 0, "RuleParameters": ""}

    def set_required_tensors(self, step: int) -> None:
        """Called before `invoke_at_step`: `self.req_tensors.add(name, steps=[step])`."""

    @abstractmethod
    def invoke_at_step(self, step: int) -> bool:
        """Whether the condition is met at a global step, by what was kept at it and before. The trial does not change meanwhile."""

    def invoke(self, step: int) -> None:
        """Waits for a global step and judges it: RuleEvaluationConditionMet, after the actions, if the condition is met."""
        self.base_trial.wait_for_steps([step])
        with no_refresh(self.trials):
            self.req_tensors.clear()
            self.set_required_tensors(step)
            self.req_tensors.fetch()
            met = self.invoke_at_step(step)
        if met:
            self.logger.info("the condition of rule %s is met at step %d", self.rule_name, step)
            self._actions.invoke(trial=self.base_trial, step=step)
            raise RuleEvaluationConditionMet(self.rule_name, step)
