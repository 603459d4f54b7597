# SPDX-License-Identifier: Apache-2.0
"""Judges step after step."""

from __future__ import annotations

from typing import List, Optional

from ..exceptions import NoMoreData, RuleEvaluationConditionMet, StepUnavailable, TensorUnavailable, TensorUnavailableForStep
from ..trials import logger
from .rule import Rule


def invoke_rule(rule_obj: Rule, start_step: Optional[int] = 0, end_step: Optional[int] = None,
                raise_eval_cond: bool = False) -> List[int]:
    """The global steps from start_step to before end_step, or the end of the run, at which the condition of a rule is met. It waits for
    steps of a run that goes on, and returns at its end.

    Steps at which nothing was kept, or not what the rule asks for, are passed over. raise_eval_cond: RuleEvaluationConditionMet at the
    first. What else a rule raises is its caller's."""
    met: List[int] = []
    step = start_step or 0
    while end_step is None or step < end_step:
        try:
            rule_obj.invoke(step)
        except (TensorUnavailableForStep, StepUnavailable, TensorUnavailable) as why:
            logger.debug("%s is not judged at step %d: %s", rule_obj.rule_name, step, why)
        except RuleEvaluationConditionMet as why:
            if raise_eval_cond:
                raise
            met.append(step)
            if why.end_of_rule:
                break
        except NoMoreData:
            break
        step += 1
    return met
