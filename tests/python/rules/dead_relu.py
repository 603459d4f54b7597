# SPDX-License-Identifier: Apache-2.0
"""A rule that finds its tensors by an expression, and reads their values."""
from smdebug.core.collection import CollectionKeys
from smdebug.rules import Rule, RequiredTensors  # noqa: F401


class DeadRelu(Rule):
    def __init__(self, base_trial, tensor_regex=".*relu_output", threshold_inactivity="1.0", threshold_layer="0.5"):
        super().__init__(base_trial, action_str=None)
        self.tensor_regex = tensor_regex
        self.inactive = float(threshold_inactivity)
        self.layer = float(threshold_layer)
        assert CollectionKeys.GRADIENTS == "gradients"

    def set_required_tensors(self, step):
        self.req_tensors.add(self.tensor_regex, steps=[step], should_match_regex=True)

    def invoke_at_step(self, step):
        for name in self.req_tensors.get_names():
            assert self.req_tensors.get_tensor_steps(name) == [step]
            outputs = self.base_trial.tensor(name).value(step)
            silent = (outputs == 0).mean(axis=0) >= self.inactive
            if silent.mean() > self.layer:
                return True
        return False
