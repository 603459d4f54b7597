# SPDX-License-Identifier: Apache-2.0
"""A rule as smdebug's page on analysis shows one: a constructor, and invoke_at_step."""
from smdebug.rules import Rule


class VanishingGradient(Rule):
    def __init__(self, base_trial, threshold="0.0000001"):
        super().__init__(base_trial, other_trials=None)
        self.threshold = float(threshold)

    def invoke_at_step(self, step):
        for name in self.base_trial.tensors(collection="gradients"):
            tensor = self.base_trial.tensor(name)
            if tensor.reduction_value(step, "mean", abs=True) < self.threshold:
                return True
        return False
