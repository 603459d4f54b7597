# SPDX-License-Identifier: Apache-2.0
"""The modes that a caller who thinks in smdebug's terms names."""

from __future__ import annotations

from enum import Enum


class ModeKeys(Enum):
    """GLOBAL is no mode of a step: it says that a step number is the place among all closed steps, whatever their mode (an ordinal)."""
    TRAIN = 1
    EVAL = 2
    PREDICT = 3
    GLOBAL = 4

    @property
    def mode(self) -> str:
        """As the rest of the package spells it: \"train\"."""
        return self.name.lower()
