# SPDX-License-Identifier: Apache-2.0
"""What smdebug raises, by its names. Each is one of spotter's own errors, too, where there is one that means the same: whoever catches
`spotter.NoSuchStep` catches `StepUnavailable`."""

from __future__ import annotations

from typing import Optional

from . import errors
from .errors import SpotterError
from .mode_keys import ModeKeys


class SMDebugError(SpotterError):
    pass


class TensorUnavailable(SMDebugError, errors.NoSuchName):
    """Nothing of that name was kept, so far."""

    def __init__(self, tname: str):
        super().__init__(f"tensor {tname} was not kept: tensor_names() lists what was")
        self.tname = tname


class TensorUnavailableForStep(SMDebugError, errors.NotInStep):
    """The step is there, and what was asked for will never be in it."""

    def __init__(self, tname: str, step: int, mode: ModeKeys = ModeKeys.GLOBAL, has_reductions: bool = False,
                 why: str = "steps() of it lists where it was"):
        super().__init__(f"tensor {tname} was not kept so at step {step} of mode {mode.name}: {why}")
        self.tname, self.step, self.mode, self.has_reductions = tname, step, mode, has_reductions


class ShapeUnavailableForStep(TensorUnavailableForStep):
    pass


class StepUnavailable(SMDebugError, errors.NoSuchStep):
    """Nothing was kept at that step, and nothing will be."""

    def __init__(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL):
        super().__init__(f"nothing was kept at step {step} of mode {mode.name}: steps() lists where something was")
        self.step, self.mode = step, mode


class StepNotYetAvailable(SMDebugError, errors.NotYet):
    """The run has not come to that step."""

    def __init__(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL):
        super().__init__(f"the run has not come to step {step} of mode {mode.name}: wait_for_steps([{step}])")
        self.step, self.mode = step, mode


class NoMoreData(SMDebugError, errors.NoMoreData):
    """The run is over, and its last step lies before the one that was waited for."""

    def __init__(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL, last_step: int = -1):
        super().__init__(f"the run is over without step {step} of mode {mode.name}; its last is {last_step}")
        self.step, self.mode, self.last_step = step, mode, last_step


class InvalidWorker(SMDebugError, errors.NoSuchWorker):
    def __init__(self, worker):
        super().__init__(f"worker {worker} is not in the run, or kept nothing there: workers() lists those that did")
        self.worker = worker


class MissingCollectionFiles(SMDebugError, errors.NotARun):
    """Nothing was recorded in that folder."""

    def __init__(self, why: Optional[str] = None):
        super().__init__(why or "nothing was recorded there")


class RuleEvaluationConditionMet(SMDebugError):
    """A rule's condition holds. One that is raised by a rule itself with `end_of_rule` ends its evaluation."""
    code = "rule_fired"

    def __init__(self, rule_name: str, step: int, end_of_rule: bool = False):
        super().__init__(f"the condition of rule {rule_name} is met at step {step}")
        self.rule_name, self.step, self.end_of_rule = rule_name, step, end_of_rule


class InsufficientInformationForRuleInvocation(SMDebugError):
    """For rules to raise that cannot judge; it is its caller's."""

    def __init__(self, rule_name: str, message: str):
        super().__init__(f"rule {rule_name} cannot be judged: {message}")
        self.rule_name, self.message = rule_name, message
