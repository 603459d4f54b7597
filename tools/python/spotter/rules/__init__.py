# SPDX-License-Identifier: Apache-2.0
"""Rules in Python, judged over a record: what smdebug's rules are written against."""

from __future__ import annotations

from ..exceptions import RuleEvaluationConditionMet
from .action import Actions, Email, RunCommand, StopTraining, Webhook
from .req_tensors import RequiredTensors, RequiredTensorsForTrial
from .rule import Rule
from .rule_invoker import invoke_rule

__all__ = ["Rule", "invoke_rule", "RuleEvaluationConditionMet", "RequiredTensors", "RequiredTensorsForTrial", "Actions", "StopTraining",
           "RunCommand", "Webhook", "Email"]
