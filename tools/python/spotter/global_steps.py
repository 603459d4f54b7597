# SPDX-License-Identifier: Apache-2.0
"""Steps by one number, whatever their mode: what smdebug calls global steps, and spotter ordinals."""

from __future__ import annotations

from typing import Iterable, List, NamedTuple, Optional, Tuple

import numpy as np

from .model import MODES, Step
from .run import Trial

Range = Optional[Tuple[Optional[int], Optional[int]]]
_NEVER = -1


class _Table(NamedTuple):
    """The steps of a mode, sorted by their index: of several workers each step once, as the lowest has it."""
    indices: np.ndarray
    numbers: np.ndarray
    workers: np.ndarray
    held: np.ndarray  # anything was kept, by whomever

    def places_of(self, indices: np.ndarray) -> np.ndarray:
        """Of those that are there."""
        at = np.asarray(np.searchsorted(self.indices, indices))
        there: np.ndarray = at < len(self.indices)
        there[there] = self.indices[at[there]] == indices[there]
        return at[there]

    def find(self, index: int) -> Optional[int]:
        if index < 0:
            return None
        found = self.places_of(np.array([index], np.uint64))
        return int(found[0]) if len(found) else None


def _last_of(indices: np.ndarray) -> int:
    return int(indices.max()) if len(indices) else _NEVER


class GlobalSteps:
    """The closed steps of a run, as far as `update` has seen them. Of a step that was closed twice the number is the latest's.

    span: (begin, end) of global steps, end excluded; what lies outside is as if it had not been recorded."""

    def __init__(self, run: Trial, span: Range):
        self._run, self._span = run, span
        self._sizes: List[Tuple[int, int]] = []
        self.update()

    def update(self) -> None:
        """Takes in what the run's last refresh brought."""
        records = self._run._records
        sizes = [(record.number, len(record.closed().mode)) for record in records]
        if sizes == self._sizes:
            return
        self._sizes = sizes
        self._tables = [self._table_of(mode) for mode in range(len(MODES))]
        # By number: where two workers give two steps the same one it is the lower worker's.
        indices, numbers, workers = (np.concatenate(each) for each in list(zip(*self._tables))[:3])
        modes: np.ndarray = np.repeat(np.arange(len(MODES)), [len(table.indices) for table in self._tables])
        order = np.lexsort((workers, numbers))
        self._numbers, first = np.unique(numbers[order], return_index=True)
        self._modes, self._indices = modes[order][first], indices[order][first]
        # Of each worker the last index of each mode, and its last ordinal.
        self._last = {}
        for record in records:
            closed = record.closed()
            self._last[record.number] = ([_last_of(closed.index[closed.mode == mode]) for mode in range(len(MODES))],
                                         _last_of(closed.ordinal))

    def _table_of(self, mode: int) -> _Table:
        index: np.ndarray = np.empty(0, np.uint64)
        number: np.ndarray = np.empty(0, np.int64)
        worker: np.ndarray = np.empty(0, np.int64)
        held: List[np.ndarray] = [np.empty(0, np.uint64)]
        begin, end = self._span or (None, None)
        for record in self._run._records:
            closed = record.closed()
            chosen = closed.mode == mode
            if begin is not None:
                chosen &= closed.ordinal >= begin
            if end is not None:
                chosen &= closed.ordinal < end
            held.append(closed.index[chosen & closed.held])
            its, latest = np.unique(closed.index[chosen][::-1], return_index=True)
            new = ~np.isin(its, index)
            index = np.concatenate((index, its[new]))
            number = np.concatenate((number, closed.ordinal[chosen][::-1][latest][new].astype(np.int64)))
            worker = np.concatenate((worker, np.full(np.count_nonzero(new), record.number)))
        order = np.argsort(index, kind="stable")
        return _Table(index[order], number[order], worker[order], np.isin(index[order], np.concatenate(held)))

    def step_of(self, number: int) -> Optional[Step]:
        """None, too, of a closing that a later attempt of the run made again: the step has the number of that."""
        at = int(np.searchsorted(self._numbers, number))
        if at == len(self._numbers) or self._numbers[at] != number:
            return None
        return Step(MODES[self._modes[at]], int(self._indices[at]))

    def number_of(self, step: Step) -> Optional[int]:
        table = self._tables[MODES.index(step.mode)]
        at = table.find(step.index)
        return None if at is None else int(table.numbers[at])

    def is_held(self, step: Step) -> bool:
        table = self._tables[MODES.index(step.mode)]
        at = table.find(step.index)
        return at is not None and bool(table.held[at])

    def modes(self) -> List[str]:
        """In which anything was kept."""
        return [mode for mode, table in zip(MODES, self._tables) if table.held.any()]

    def numbers(self, mode: Optional[str], closings: Optional[Iterable[tuple]] = None, decided: bool = False) -> np.ndarray:
        """Steps within a mode, or the numbers of those of all modes; sorted. closings: of these (modes, indices, …) alone, else of all
        at which anything was kept. decided: only those that are."""
        kind = np.int64 if mode is None else np.uint64  # an index may be any of 64 bits
        found: List[np.ndarray] = [np.empty(0, kind)]
        pairs = None if closings is None else [(each[0], each[1]) for each in closings]
        for at, name in enumerate(MODES):
            if mode not in (None, name):
                continue
            table = self._tables[at]
            if pairs is None:
                chosen = np.flatnonzero(table.held)
            else:
                chosen = np.unique(np.concatenate([np.empty(0, np.int64)] + [table.places_of(indices[modes == at])
                                                                             for modes, indices in pairs]))
            last = self._decided_to(at) if decided else None
            if last is not None:
                chosen = chosen[table.indices[chosen] <= last] if last >= 0 else chosen[:0]
            found.append((table.numbers if mode is None else table.indices)[chosen].astype(kind))
        return np.unique(np.concatenate(found))

    def _decided_to(self, mode: int) -> Optional[int]:
        """The index up to which no worker will close a step of a mode; None: nor any other."""
        if self._run._awaiting:
            return _NEVER
        return min((self._last[record.number][0][mode] for record in self._run._records if record.status == "running"), default=None)

    def is_decided(self, step: Step) -> bool:
        """Every worker has closed the step, or one behind it, or will close none any more."""
        last = self._decided_to(MODES.index(step.mode))
        return last is None or last >= step.index

    def is_behind(self, number: int) -> bool:
        """Every worker has closed a step with a larger number, or will close none any more."""
        return not self._run._awaiting and all(record.status != "running" or self._last[record.number][1] > number
                                               for record in self._run._records)
