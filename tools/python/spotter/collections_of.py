# SPDX-License-Identifier: Apache-2.0
"""Collections as smdebug has them: a name, and the names of the tensors in it."""

from __future__ import annotations

from typing import Dict, Set

from .run import Trial


class CollectionKeys:
    """The names that smdebug gives its collections."""
    DEFAULT = "default"
    ALL = "all"
    INPUTS = "inputs"
    OUTPUTS = "outputs"
    WEIGHTS = "weights"
    GRADIENTS = "gradients"
    LOSSES = "losses"
    BIASES = "biases"
    OPTIMIZER_VARIABLES = "optimizer_variables"
    METRICS = "metrics"
    HYPERPARAMETERS = "hyperparameters"
    PREDICTIONS = "predictions"
    LABELS = "labels"
    FEATURE_IMPORTANCE = "feature_importance"
    AVERAGE_SHAP = "average_shap"
    FULL_SHAP = "full_shap"
    TREES = "trees"


# Of a run whose plan has no collection of that name: the role of its members.
_ROLE_OF = {"inputs": "input", "outputs": "prediction", "weights": "weight", "gradients": "gradient", "losses": "loss", "biases": "bias",
            "optimizer_variables": "optimizer", "metrics": "metric", "hyperparameters": "hyperparameter", "predictions": "prediction",
            "labels": "label", "feature_importance": "importance", "average_shap": "average_shap", "full_shap": "full_shap",
            "trees": "tree"}


class TensorCollection:
    """Those that were kept, of the tensors in a collection. `keeps` says which tensors the plan names, when and what of them."""

    def __init__(self, name: str, tensor_names: Set[str], keeps: str = ""):
        self.name, self.tensor_names, self.keeps = name, tensor_names, keeps

    def has_tensor_name(self, tname: str) -> bool:
        return tname in self.tensor_names

    def __repr__(self):
        return f"<collection {self.name}: {len(self.tensor_names)} tensors>"


def collections_of(run: Trial) -> Dict[str, TensorCollection]:
    """Those of the plan; behind them those that smdebug has in any case, with the tensors whose role says so, and `all`."""
    infos = [run[name].info for name in run.names()]
    found = {each.name: TensorCollection(each.name, {info.name for info in infos if each.name in info.collections}, each.keeps)
             for each in run.collections()}
    for name, role in _ROLE_OF.items():
        members = {info.name for info in infos if info.role == role}
        if members and name not in found:
            found[name] = TensorCollection(name, members)
    found.setdefault(CollectionKeys.ALL, TensorCollection(CollectionKeys.ALL, {info.name for info in infos}))
    return found
