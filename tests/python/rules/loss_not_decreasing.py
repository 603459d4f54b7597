# SPDX-License-Identifier: Apache-2.0
"""A rule as files for SageMaker had them: texts for parameters, a mode, tensors that are required, steps before this one."""
import numpy as np

from smdebug import modes
from smdebug.exceptions import TensorUnavailableForStep
from smdebug.rules.rule import Rule


class LossNotDecreasing(Rule):
    def __init__(self, base_trial, num_steps="20", min_improvement="0.05", collection_names="losses", action_str=""):
        super().__init__(base_trial, action_str)
        self.num_steps = int(num_steps)
        self.min_improvement = float(min_improvement)
        self.collection_names = collection_names.split(",")

    def names(self):
        return [name for each in self.collection_names for name in self.base_trial.tensor_names(collection=each)]

    def set_required_tensors(self, step):
        for name in self.names():
            self.req_tensors.add(name, steps=[step])

    def mean_over(self, tensor, steps):
        found = []
        for each in steps:
            try:
                found.append(float(tensor.value(each, mode=modes.TRAIN)))
            except TensorUnavailableForStep:
                self.logger.debug("no loss at %d", each)
        return np.mean(found)

    def invoke_at_step(self, step):
        if self.base_trial.mode(step) != modes.TRAIN:
            return False
        for tensor in self.req_tensors.get():
            before = tensor.prev_steps(self.base_trial.mode_step(step), 2 * self.num_steps, mode=modes.TRAIN)
            if len(before) < 2 * self.num_steps:
                continue
            first, second = before[:self.num_steps], before[self.num_steps:]
            if self.mean_over(tensor, second) > (1 - self.min_improvement) * self.mean_over(tensor, first):
                self.report["Violations"] += 1
                return True
        return False
