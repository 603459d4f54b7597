# SPDX-License-Identifier: Apache-2.0
"""A run as smdebug's trial: steps are numbers, global ones unless a mode is given, and a trial looks for news by itself."""

from __future__ import annotations

import logging
import os
import re
import time
from typing import Dict, Iterable, List, Optional, Tuple, Union

import numpy as np

from .analysis.utils import refresh
from .collections_of import TensorCollection, collections_of
from .errors import BadConfig, NotARun
from .exceptions import MissingCollectionFiles, NoMoreData, StepUnavailable, TensorUnavailable
from .global_steps import GlobalSteps, Range
from .mode_keys import ModeKeys
from .model import Step
from .reader.asked import Kept
from .run import open_trial
from .tensors import StepState, Tensor
from .track import Track

logger = logging.getLogger("spotter")
logger.addHandler(logging.NullHandler())
_SECONDS_BETWEEN_LOOKS = 0.02


class Trial:
    """What a run recorded. `run` is the same as spotter's own trial, for what smdebug had no word for.

    A global step is a place among all closed steps of the run, whatever their mode. Every question looks for what was written meanwhile,
    but within `no_refresh`. A step is complete once each worker has closed it, or one behind it, or is over."""

    def __init__(self, path, name: Optional[str] = None, range_steps: Range = None):
        begin, end = range_steps or (None, None)
        if any(each is not None and (not isinstance(each, int) or each < 0) for each in (begin, end)) or \
                (begin is not None and end is not None and end <= begin):
            raise BadConfig(f"range_steps is (begin, end), of steps from 0 on or None, begin before end; not {range_steps!r}")
        try:
            self.run = open_trial(str(path).strip())
        except NotARun as why:
            raise MissingCollectionFiles(str(why)) from why
        self.path, self.range_steps = self.run.path, range_steps
        self.name = name if name is not None else os.path.basename(self.path.rstrip("/"))
        self.dynamic_refresh, self.logger = True, logger
        self._steps = GlobalSteps(self.run, range_steps)
        self._known: dict = {}  # what was asked since the last refresh

    def __repr__(self):
        return f"<trial {self.name}: {self.run.path}, {self.run.status()}, {len(self._steps.numbers(None))} steps>"

    def _repr_html_(self) -> str:
        return self.run._repr_html_()

    # -- what is new --

    @property
    def loaded_all_steps(self) -> bool:
        """Nobody writes any more, and all that was written is known."""
        self.maybe_refresh()
        return self.run.over()

    def maybe_refresh(self) -> None:
        """Takes in what was written meanwhile, unless the run is over or within `no_refresh`."""
        if self.dynamic_refresh and not self.run.over():
            self.run.refresh()
            self._steps.update()
            self._known.clear()

    def wait_for_steps(self, required_steps: Iterable[int], mode: ModeKeys = ModeKeys.GLOBAL) -> None:
        """Returns when all of them are there. StepUnavailable: one was passed by. NoMoreData: the run is over before."""
        for step in required_steps:
            state = self._state(step, mode)
            with refresh(self):
                while state == StepState.NOT_YET_AVAILABLE:
                    state = self.has_passed_step(step, mode)
                    if state == StepState.NOT_YET_AVAILABLE:
                        time.sleep(_SECONDS_BETWEEN_LOOKS)
            if state == StepState.UNAVAILABLE:
                last = max(self._steps.numbers(_name_of(mode)).tolist()[-1:], default=-1)
                raise NoMoreData(step, mode, last) if self.run.over() and step > last else StepUnavailable(step, mode)

    def has_passed_step(self, step: int, mode: ModeKeys = ModeKeys.GLOBAL) -> StepState:
        self.maybe_refresh()
        return self._state(step, mode)

    def _state(self, number: int, mode: ModeKeys) -> StepState:
        step = self._step(number, mode)
        if step is None:
            wanted = None if mode == ModeKeys.GLOBAL else Step(mode.mode, number)
            passed = self._steps.is_behind(number) if wanted is None else self._steps.is_decided(wanted)
            return StepState.UNAVAILABLE if passed else StepState.NOT_YET_AVAILABLE
        if not self._steps.is_decided(step):
            return StepState.NOT_YET_AVAILABLE
        return StepState.AVAILABLE if self._steps.is_held(step) else StepState.UNAVAILABLE

    # -- steps --

    def steps(self, mode: ModeKeys = ModeKeys.GLOBAL, show_incomplete_steps: bool = False, kept_for_rules: bool = False) -> List[int]:
        """Steps at which there are values, or what else a collection of the plan asked for; those within a mode, if one is given.
        kept_for_rules: those, too, at which there is only what rules of the loop looked at."""
        self.maybe_refresh()
        return self._numbers(None, mode, show_incomplete_steps, "anything" if kept_for_rules else "asked").tolist()

    def modes(self) -> List[ModeKeys]:
        """In which anything was kept."""
        self.maybe_refresh()
        return [ModeKeys[mode.upper()] for mode in self._steps.modes()]

    def global_step(self, mode: ModeKeys, mode_step: int) -> Optional[int]:
        """None where there is no such step (yet)."""
        self.maybe_refresh()
        return mode_step if mode == ModeKeys.GLOBAL else self._steps.number_of(Step(mode.mode, mode_step))

    def mode_modestep(self, global_step: int) -> Tuple[Optional[ModeKeys], Optional[int]]:
        self.maybe_refresh()
        found = self._steps.step_of(global_step)
        return (ModeKeys[found.mode.upper()], found.index) if found else (None, None)

    def mode(self, global_step: int) -> Optional[ModeKeys]:
        return self.mode_modestep(global_step)[0]

    def mode_step(self, global_step: int) -> Optional[int]:
        return self.mode_modestep(global_step)[1]

    def _step(self, number: int, mode: ModeKeys) -> Optional[Step]:
        """None where no such step was closed."""
        if mode == ModeKeys.GLOBAL:
            return self._steps.step_of(number)
        step = Step(mode.mode, number)
        return step if self._steps.number_of(step) is not None else None

    def _numbers(self, track: Optional[Track], mode: ModeKeys, show_incomplete_steps: bool, kept: Kept) -> np.ndarray:
        """Steps at which something was kept, of a tensor or of any."""
        question = (track and (track.name, track._worker), mode, show_incomplete_steps, kept)
        if question not in self._known:
            if track is not None:
                closings: Optional[list] = [each.closings(None, kept) for each in track._parts()]
            else:
                closings = [each.asked() for each in self.run._records] if kept == "asked" else None
            self._known[question] = self._steps.numbers(_name_of(mode), closings, decided=not show_incomplete_steps)
        return self._known[question]

    # -- tensors --

    def tensor(self, tname: str) -> Tensor:
        """TensorUnavailable where nothing of that name was kept (yet)."""
        if not self.has_tensor(tname):
            raise TensorUnavailable(tname)
        return Tensor(self, tname)

    def has_tensor(self, tname: str) -> bool:
        self.maybe_refresh()
        return tname in self._kept()

    def tensor_names(self, *, step: Optional[int] = None, mode: ModeKeys = ModeKeys.GLOBAL,
                     regex: Union[str, Iterable[str], None] = None,
                     collection: Union[str, TensorCollection, None] = None) -> List[str]:
        """Names of which anything was kept, sorted: those for which every argument holds. regex: one that is found anywhere in the name,
        or several of which one is. Not both a regex and a collection. What there is not has no names."""
        if regex is not None and collection is not None:
            raise ValueError("give a regex or a collection, not both")
        self.maybe_refresh()
        names = list(self._kept())
        if step is not None:
            at = self._step(step, mode)
            names = self.run.names(step=at) if at is not None else []
        elif mode != ModeKeys.GLOBAL or self.range_steps is not None:
            names = [each for each in names if Tensor(self, each).steps(mode, show_incomplete_steps=True, kept_for_rules=True)]
        if regex is not None:
            patterns = [regex] if isinstance(regex, str) else list(regex)
            names = [each for each in names if any(re.search(pattern, each) for pattern in patterns)]
        if collection is not None:
            known = collection if isinstance(collection, TensorCollection) else self.collection(collection)
            names = [each for each in names if each in known.tensor_names]
        return names

    tensors = tensor_names  # as smdebug's page on analysis calls it in its rule

    def _kept(self) -> List[str]:
        if "names" not in self._known:
            self._known["names"] = self.run.names()
        return self._known["names"]

    def collections(self) -> Dict[str, TensorCollection]:
        self.maybe_refresh()
        return collections_of(self.run)

    def collection(self, coll_name: str) -> TensorCollection:
        """One without tensors where there is none of that name."""
        return self.collections().get(coll_name) or TensorCollection(coll_name, set())

    # -- workers --

    def workers(self) -> List[str]:
        self.maybe_refresh()
        return [f"worker_{each}" for each in self.run.workers()]

    @property
    def num_workers(self) -> int:
        return max(len(self.run.workers()), self.run.expected_workers())


def _name_of(mode: ModeKeys) -> Optional[str]:
    return None if mode == ModeKeys.GLOBAL else mode.mode


def create_trial(path, name: Optional[str] = None, range_steps: Range = None) -> Trial:
    """Opens the run that was recorded into a folder or an s3:// place, at once; MissingCollectionFiles where there is none.

    range_steps: (begin, end) of global steps, end excluded, either None: nothing of other steps is there."""
    return Trial(path, name, range_steps)
