# SPDX-License-Identifier: Apache-2.0
"""What a record says: steps, tensors, findings and so on, as the reader hands them out."""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Tuple, Union

import numpy as np

from .errors import BadConfig

MODES = ("train", "eval", "predict")
ROLES = ("other", "loss", "gradient", "weight", "bias", "input", "label", "prediction", "preactivation", "activation", "optimizer",
          "metric", "tree", "importance", "average_shap", "full_shap", "hyperparameter", "timing", "system")
ACTIVATIONS = ("unknown", "relu", "tanh", "sigmoid", "other")
FLAGS = {"frozen": 1, "full_batch": 2, "sparse_rows": 4, "logits": 8, "negated": 16, "gathered": 32, "unasked": 64,
         "log_probabilities": 128, "of_kernels": 65536}


class Step(NamedTuple):
    """A step of a mode. Where a step is asked for, 100 and "100" (of train), "eval:3", "eval(3)" and ("eval", 3) do as well."""
    mode: str
    index: int  # type: ignore[assignment]  # in place of tuple.index: C++ calls it so, too

    def __str__(self):
        return f"{self.mode}:{self.index}"


AnyStep = Union[Step, Tuple[str, int], str, int]


def step_of(wanted: AnyStep) -> Step:
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and wanted >= 0:
        return Step("train", int(wanted))
    if isinstance(wanted, str):
        found = re.fullmatch(r"(?:(\w+)[:(])?(\d+)\)?", wanted)
        if found and (found[1] or "train") in MODES:
            return Step(found[1] or "train", int(found[2]))
    elif isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] in MODES and wanted[1] >= 0:
        return Step(wanted[0], int(wanted[1]))
    raise BadConfig(f"{wanted!r} is no step: write it like 100, \"train:100\" or (\"eval\", 3)")


def mode_number(wanted: Optional[str]) -> Optional[int]:
    if wanted is not None and wanted not in MODES:
        raise BadConfig(f"there is no mode {wanted!r}: train, eval or predict")
    return None if wanted is None else MODES.index(wanted)


class Info(NamedTuple):
    """A tensor as it was last declared. `partner` is the name of the tensor that it belongs to, such as a gradient's weight."""
    name: str
    role: str
    dtype: str
    shape: Tuple[int, ...]
    partner: Optional[str]
    partner_role: str
    flags: Tuple[str, ...]
    activation: str
    collections: Tuple[str, ...]


class Collection(NamedTuple):
    name: str
    keeps: str  # which tensors, when and what of them, as a sentence


class Loose(NamedTuple):
    """A scalar that was given between steps."""
    time: float  # seconds since 1970
    value: Union[float, complex, str]
    before_ordinal: int  # of the step that closed next


class Distribution(NamedTuple):
    """Of the finite values. None stands for what was not asked for, or not kept."""
    quantiles: Optional[np.ndarray]  # at QUANTILE_LEVELS
    low: Optional[float]  # the histogram's first and last edge
    high: Optional[float]
    bins: Optional[np.ndarray]  # 64 of equal width, the last one closed

    @property
    def edges(self) -> Optional[np.ndarray]:
        return None if self.bins is None or self.low is None or self.high is None else np.linspace(self.low, self.high, len(self.bins) + 1)


class Finding(NamedTuple):
    severity: str
    rule: str
    reason: str
    step: Step
    tensor: str
    measure: str
    measured: float
    how: str
    threshold: float
    remedy: str
    detail: str
    decision: str
    others: int
    worker: int

    def _repr_html_(self) -> str:
        from .notebook import of_finding
        return of_finding(self)


class Coverage(NamedTuple):
    """How much a rule could judge."""
    rule: str
    matched: int
    judged: int
    undecided: int
    fired: int
    reason: str
    worker: int  # the lowest of those that it is of
    workers: int  # how many say the same; their counts add up


class Damage(NamedTuple):
    """Bytes that could not be read. 0 bytes: a whole file, or a worker's folder."""
    file: str
    offset: int
    bytes: int


class Totals(NamedTuple):
    """Over all attempts; `bytes` of all segments."""
    stored: int = 0
    dropped: int = 0
    thinned: int = 0
    closes_lost: int = 0
    refused: int = 0
    bytes: int = 0
