# SPDX-License-Identifier: Apache-2.0
"""Reads the records of training runs, finished or still being written. Needs NumPy and zstandard.

    from spotter import open_trial
    run = open_trial("runs/a")
    steps, loss = run["loss"].history("mean", mode="train")   # NumPy arrays
    w = run["fc1/w"].value("train:100")

A run in an object store is `open_trial("s3://bucket/runs/a")`, read by ranges with boto3, where that is installed.

Who comes from smdebug finds its calls, too: `create_trial`, `modes`, and `spotter.rules` for rules in Python (docs/from_smdebug.md).

A trial is a snapshot: what is read from it does not change until `refresh`. It is one thread's. docs/python.md has the whole of it,
docs/format.md the bytes.
"""

from __future__ import annotations

from ._version import __version__
from .as_smdebug import install_as_smdebug
from .collections_of import CollectionKeys
from .errors import (BadConfig, Corrupt, IoError, NoMoreData, NoPayload, NoSuchName, NoSuchStep, NoSuchWorker, NotARun, NotInStep, NotYet,
                     SpotterError, UnknownVersion)
from .mode_keys import ModeKeys
from .mode_keys import ModeKeys as modes
from .model import MODES, Collection, Coverage, Damage, Distribution, Finding, Info, Loose, Step, Totals
from .reader.statistics import QUANTILE_LEVELS, STATISTICS
from .run import Trial, open_trial
from .tensors import StepState
from .track import Track
from .trials import create_trial

__all__ = ["open_trial", "Trial", "Track", "Step", "Info", "Collection", "Loose", "Distribution", "Finding", "Coverage", "Damage",
           "Totals", "MODES", "STATISTICS", "QUANTILE_LEVELS", "SpotterError", "NoSuchName", "NoSuchStep", "NotInStep", "NotYet",
           "NoMoreData", "NoPayload", "NoSuchWorker", "Corrupt", "NotARun", "UnknownVersion", "BadConfig", "IoError",
           "create_trial", "modes", "ModeKeys", "CollectionKeys", "StepState", "install_as_smdebug", "__version__"]
