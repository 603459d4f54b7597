# SPDX-License-Identifier: Apache-2.0
"""What a collection of the plan asked for, as its sentence in the record says: when, and which terms. What a tensor has at other steps
was kept because a rule of the loop looked at it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Callable, Dict, List, Literal, NamedTuple, Optional, Tuple

import numpy as np

from ..model import MODES
from .packed import Packed
from .rows import OBSERVED, SCALAR, VALUES, Sample, sample_of

Kept = Literal["anything", "asked", "values"]  # asked: values, and what a collection asked for
Policy = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of the modes and indices of steps, whether each is let through

_DEEPEST = 256  # that a policy is nested: no plan has more
_LEAF = re.compile(r"always|never|(every|from|before)\{(\d+)\}|between\{(\d+), (\d+)\}|at\{(\d+(?:, \d+)*)\}|"
                   r"during\{(train|eval|predict)\}")
_MASK_OF = {"counts": 1, "zeros": 2, "range": 4, "abs range": 8, "sum": 16, "sum of |x|": 32, "sum of squares": 64, "variance": 128,
            "product": 256, "change": 512, "hash": 1024}


class Request(NamedTuple):
    when: Optional[Policy]  # None: it is unknown, as for a function of the program
    mask: int  # the terms of a summary
    other: Tuple[str, ...]  # what else is asked for

    def met_by(self, it: Sample) -> bool:
        """Everything that is asked for is in a row, or was there before it was thinned."""
        there = {name for name in ("quantiles", "histogram", "shape") if getattr(it, name) is not None}
        return it.thinned or ((it.summary or {"mask": 0})["mask"] & self.mask == self.mask and set(self.other) <= there)


Requests = Tuple[Request, ...]


def _leaf(found: "re.Match[str]") -> Policy:
    word, *_, several, mode = found.groups()
    numbers = np.array([int(each) for each in re.findall(r"\d+", found[0])], np.uint64)
    if word == "every":
        return lambda modes, indices: indices % numbers[0] == 0 if numbers[0] else np.zeros(len(indices), bool)
    if word == "from":
        return lambda modes, indices: indices >= numbers[0]
    if word == "before":
        return lambda modes, indices: indices < numbers[0]
    if several:
        return lambda modes, indices: np.isin(indices, numbers)
    if len(numbers):
        return lambda modes, indices: (indices >= numbers[0]) & (indices < numbers[1])
    if mode:
        return lambda modes, indices: modes == MODES.index(mode)
    return lambda modes, indices: np.full(len(indices), found[0] == "always")


def _policy(text: str, at: int, depth: int = 0) -> Tuple[Policy, int]:
    """The policy that begins at a place, and where it ends. ValueError where none does."""
    if depth > _DEEPEST:
        raise ValueError(text)
    if text.startswith("!", at):
        inner, end = _policy(text, at + 1, depth + 1)
        return lambda modes, indices: ~inner(modes, indices), end
    if text.startswith("(", at):
        left, middle = _policy(text, at + 1, depth + 1)
        right, end = _policy(text, middle + 4, depth + 1)
        joined = text[middle:middle + 4]
        if joined not in (" && ", " || ") or not text.startswith(")", end):
            raise ValueError(text)
        if joined == " && ":
            return lambda modes, indices: left(modes, indices) & right(modes, indices), end + 1
        return lambda modes, indices: left(modes, indices) | right(modes, indices), end + 1
    found = _LEAF.match(text, at)
    if not found:
        raise ValueError(text)
    return _leaf(found), found.end()


def policy_of(text: str, begin: int = 0) -> Optional[Policy]:
    """Of a text from there on, as docs/plan.md writes it: `(every{10} && during{train})`; None of other text, and of what is a function
    of the program."""
    try:
        found, end = _policy(text, begin)
        return found if end == len(text) else None
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=1024)
def request_of(sentence: str) -> Request:
    """`"grad/*", every{10}: sum, counts`. Of a sentence that was cut before its colon, as older records have it: anything, at any
    step."""
    which_and_when, _, what = sentence.rpartition(": ")
    policies = (policy_of(which_and_when, found.end()) for found in re.finditer(", ", which_and_when))
    when = next((each for each in policies if each is not None), None)
    terms = [each for each in what.split(", ") if each] if which_and_when else []
    return Request(when, sum(_MASK_OF.get(each, 0) for each in set(terms)),
                   tuple(each for each in terms if each in ("payload", "quantiles", "histogram", "shape")))


def are_asked(requests: Requests, modes: np.ndarray, indices: np.ndarray, sample: Callable[[int], Sample]) -> np.ndarray:
    """Of rows without values, at these steps, whether any of the requests asked for them; `sample` reads the i-th."""
    chosen: np.ndarray = np.zeros(len(indices), bool)
    for each in requests:
        if each.when is not None:
            chosen |= each.when(modes, indices)
    undecided = [each for each in requests if each.when is None]
    for i in np.flatnonzero(~chosen).tolist() if undecided else ():
        it = sample(i)
        chosen[i] = any(each.met_by(it) for each in undecided)
    return chosen


_TURN = re.compile(r"(?:train|eval|predict)\(\d+\) (pause|resume)(?:$|, asked by )")


class Pauses:
    """When nothing of the plan was kept, as the texts `control` say, each at the last step before; at most until the end of its attempt."""

    def __init__(self, texts: List[Tuple[int, str]], attempts: List[int]) -> None:
        """texts: with the ordinals of their steps. attempts: the first ordinals of those after the first."""
        turns = [(ordinal, False) for ordinal in attempts]
        for ordinal, text in texts:
            found = _TURN.match(text)
            if found and "; refused: " not in text:
                turns.append((ordinal + 1, found[1] == "pause"))
        turns.sort(key=lambda turn: turn[0])
        self._from: np.ndarray = np.array([ordinal for ordinal, _ in turns], np.uint64)
        self._paused: np.ndarray = np.array([False] + [paused for _, paused in turns])

    def at(self, ordinals: np.ndarray) -> np.ndarray:
        return self._paused[np.searchsorted(self._from, ordinals, side="right")]


class AskedSteps:
    """The steps at which one worker kept values of any tensor, or what else a collection asked for; taken in piece by piece."""

    def __init__(self) -> None:
        self._taken = 0  # how many pieces have been looked at
        self._found: List[Tuple[np.ndarray, ...]] = [(np.empty(0, np.uint8), np.empty(0, np.uint64), np.empty(0, np.uint64))]

    def take(self, pieces: list, requests_of, pauses: Pauses) -> Tuple[np.ndarray, ...]:
        """(modes, indices, ordinals) of all pieces, old and new; requests_of(tensor, plan of a segment)."""
        sure: list = []  # rows that hold values
        others: Dict[Requests, list] = {}
        for segment, piece in pieces[self._taken:]:
            if isinstance(piece, Packed):
                for item, steps, at in piece.items:
                    if item.first not in segment.ids:
                        continue
                    its = piece.modes[steps], piece.indices[steps], piece.ordinals[steps]
                    if not item.scalar:
                        chosen = are_asked(requests_of(segment.ids[item.first], segment.plan), its[0], its[1],
                                           lambda i: piece.sample_of(item, int(at[i]))) & ~pauses.at(its[2])
                        its = its[0][chosen], its[1][chosen], its[2][chosen]
                    self._found.append(its)
                continue
            for local, rows in piece.entries.items():
                if local not in segment.ids:
                    continue
                requests = requests_of(segment.ids[local], segment.plan)
                sure += [row[:3] for row in rows if row[3] in (VALUES, SCALAR)]
                left = [row for row in rows if row[3] == OBSERVED] if requests else []
                if left:
                    others.setdefault(requests, []).extend(left)
        self._taken = len(pieces)
        for requests, rows in others.items():
            modes, indices, ordinals = _columns(rows)
            chosen = are_asked(requests, modes, indices, lambda i: sample_of(rows[i])) & ~pauses.at(ordinals)
            sure += [row[:3] for row, asked in zip(rows, chosen.tolist()) if asked]
        if sure:
            self._found.append(_columns(sure))
        if len(self._found) > 1:
            self._found = [tuple(np.concatenate(each) for each in zip(*self._found))]
        return self._found[0]


def _columns(rows: list) -> Tuple[np.ndarray, ...]:
    return tuple(np.array(each, dtype) for each, dtype in zip(list(zip(*rows))[:3], (np.uint8, np.uint64, np.uint64)))
