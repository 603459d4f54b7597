# SPDX-License-Identifier: Apache-2.0
"""The statistics of docs/internals/stat.md, to the bit."""

from __future__ import annotations

from itertools import islice
from types import SimpleNamespace
from typing import Dict, Optional, Tuple

import numpy as np

from ..errors import BadConfig, did_you_mean
from ..model import Distribution
from .rows import ALL_TERMS, DELTA, HASH, NONFINITE, ZEROS, doubles_of

_SUMS = {16: "sum", 32: "sum_abs", 64: "sum_squares"}
_MOMENT, _PRODUCT = 128, 256


def as_seen(values: np.ndarray) -> SimpleNamespace:
    """Elements as the statistics see them, in doubles: what is not finite has value, size and square 0."""
    with np.errstate(all="ignore"):
        if np.iscomplexobj(values):
            real: np.ndarray = values.real.astype(np.float64)
            imaginary: np.ndarray = values.imag.astype(np.float64)
            nan = np.isnan(real) | np.isnan(imaginary)
            negative = ~nan & ((real == -np.inf) | (imaginary == -np.inf))
            positive = ~nan & ~negative & ((real == np.inf) | (imaginary == np.inf))
            finite = ~(nan | negative | positive)
            square = np.where(finite, real * real + imaginary * imaginary, 0.0)
            return SimpleNamespace(value=np.where(finite, real, 0.0), size=np.sqrt(square), square=square, finite=finite, nan=nan,
                                   pos_inf=positive, neg_inf=negative, zero=finite & (real == 0) & (imaginary == 0))
        wide: np.ndarray = values.astype(np.float64)
        nan, positive, negative = np.isnan(wide), wide == np.inf, wide == -np.inf
        finite = ~(nan | positive | negative)
        value = np.where(finite, wide, 0.0)
        return SimpleNamespace(value=value, size=np.abs(value), square=value * value, finite=finite, nan=nan, pos_inf=positive,
                               neg_inf=negative, zero=finite & (wide == 0))


def summaries_of_scalars(values: np.ndarray) -> dict:
    """For each value the summary of a tensor that holds nothing else."""
    seen = as_seen(values)
    plus_zero = seen.value + 0.0  # a sum begins at 0, so there is no -0
    return {"mask": np.full(len(values), ALL_TERMS & ~(DELTA | HASH)), "count": np.ones(len(values), np.int64), "nan": seen.nan,
            "pos_inf": seen.pos_inf, "neg_inf": seen.neg_inf, "zeros": seen.zero, "minimum": plus_zero, "maximum": plus_zero,
            "abs_minimum": seen.size, "abs_maximum": seen.size, "sum": plus_zero, "sum_abs": seen.size, "sum_squares": seen.square,
            "moment2": np.zeros(len(values)), "product": np.where(seen.finite, seen.value, 1.0)}


def _fold(lanes: np.ndarray) -> np.ndarray:
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


class Summing:
    """The summaries of some arrays of `count` elements each, which are given piece by piece, the same elements of each: every sum in 16
    lanes and blocks of 1024, as when it is taken while recording. `needs`: which terms of it; counts are always there."""
    PIECE = 1 << 16  # elements that are looked at together, so that what is made of them stays in the processor's caches

    def __init__(self, arrays: int, count: int, needs: int = ALL_TERMS):
        self.count, self.needs = count, (needs | NONFINITE) & ~(DELTA | HASH)
        self.rows = 64 if count >= 1024 else max(1, -(-count // 16))
        self.counts: Dict[str, np.ndarray] = {name: np.zeros(arrays, np.int64) for name in ("nan", "pos_inf", "neg_inf", "zeros")}
        self.lanes = {bit: np.zeros((arrays, 16)) for bit in _SUMS if self.needs & bit}
        self.low, self.high, self.small, self.large = (np.full(arrays, each) for each in (np.inf, -np.inf, np.inf, -np.inf))
        self.product = np.ones(arrays)
        self.merged = [(0.0, 0.0, 0.0)] * arrays  # elements, mean and second moment, block after block
        self.rest: Optional[np.ndarray] = None  # what does not fill a block, yet
        self.rooms = [np.empty(0), np.empty(0)]

    def add(self, values: np.ndarray) -> None:
        """arrays x elements."""
        if self.rest is not None:
            values, self.rest = np.concatenate((self.rest, values), axis=1), None
        block, given = 16 * self.rows, values.shape[1]
        piece = max(block, self.PIECE // max(len(values), 1) // block * block)
        for start in range(0, given - given % block, piece):
            self._add(values[:, start:min(start + piece, given - given % block)])
        if given % block:
            self.rest = values[:, given - given % block:].copy()

    def found(self) -> dict:
        """A field an array, by the names of docs/format.md."""
        if self.rest is not None:
            self._add(self.rest)
        found: dict = {"mask": np.full(len(self.product), self.needs), "count": np.full(len(self.product), self.count), **self.counts}
        if not self.needs & ZEROS:
            del found["zeros"]
        for bit, low, high, ends in ((4, "minimum", "maximum", (self.low + 0.0, self.high + 0.0)),
                                     (8, "abs_minimum", "abs_maximum", (self.small, self.large))):
            if self.needs & bit:
                found[low], found[high] = (np.where(ends[0] <= ends[1], each, 0.0) for each in ends)
        with np.errstate(all="ignore"):
            found.update((_SUMS[bit], _fold(lanes)) for bit, lanes in self.lanes.items())
        if self.needs & _MOMENT:
            found["moment2"] = np.array([each[2] for each in self.merged])
        if self.needs & _PRODUCT:
            found["product"] = self.product
        return found

    def _add(self, values: np.ndarray) -> None:
        with np.errstate(all="ignore"):
            if np.iscomplexobj(values):
                seen = as_seen(values)
                for name, each in (("nan", seen.nan), ("pos_inf", seen.pos_inf), ("neg_inf", seen.neg_inf), ("zeros", seen.zero)):
                    self.counts[name] += _count(each)
            else:
                seen = self._real(values)
            self._add_ranges(seen)
            if self.needs & _PRODUCT:
                factors = seen.value if seen.finite is None else np.where(seen.finite, seen.value, 1.0)
                started = np.concatenate((self.product[:, None], factors), axis=1)
                self.product = np.multiply.accumulate(started, axis=1)[:, -1]
            if self.lanes or self.needs & _MOMENT:
                self._add_sums(seen)

    def _real(self, values: np.ndarray) -> SimpleNamespace:
        """As `as_seen`, but values stay of their type, and where all are finite nothing is said of each."""
        if self.needs & ZEROS:
            self.counts["zeros"] += _count(values == 0)
        finite = np.isfinite(values) if values.dtype.kind == "f" else None
        if finite is None or finite.all():
            return SimpleNamespace(value=values, size=None, square=None, finite=None)
        nan, positive = _count(np.isnan(values)), _count(values == np.inf)
        for name, each in (("nan", nan), ("pos_inf", positive), ("neg_inf", values.shape[1] - _count(finite) - nan - positive)):
            self.counts[name] += each
        return SimpleNamespace(value=np.where(finite, values, values.dtype.type(0)), size=None, square=None, finite=finite)

    def _add_ranges(self, seen: SimpleNamespace) -> None:
        if self.needs & 4:
            low, high = _range_of(seen.value, seen.finite)
            self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)
        if self.needs & 8:
            value = seen.value if seen.value.dtype.kind == "f" else seen.value.real.astype(np.float64)  # int8 has no 128
            low, high = _range_of(np.abs(value) if seen.size is None else seen.size, seen.finite)
            self.small, self.large = np.minimum(self.small, low), np.maximum(self.large, high)

    def _in_lanes(self, each: np.ndarray, room: int) -> np.ndarray:
        """As doubles, rows x blocks x 16: additions then go along whole rows. What the last block lacks is 0. In one of two rooms, whose
        values of before are gone."""
        arrays, given = each.shape
        blocks = -(-given // (16 * self.rows))
        if blocks * self.rows * 16 != given:
            each = np.concatenate((each, np.zeros((arrays, blocks * self.rows * 16 - given), each.dtype)), axis=1)
        lanes = self._room(room, arrays * blocks)
        np.copyto(lanes, each.reshape(arrays * blocks, self.rows, 16).transpose(1, 0, 2))
        return lanes

    def _room(self, room: int, blocks: int) -> np.ndarray:
        size = self.rows * blocks * 16
        if len(self.rooms[room]) < size:
            self.rooms[room] = np.empty(size)
        return self.rooms[room][:size].reshape(self.rows, blocks, 16)

    def _add_sums(self, seen: SimpleNamespace) -> None:
        value = self._in_lanes(seen.value.real, 0)
        sums = _sum_of(value)
        for bit, lanes in self.lanes.items():
            of_blocks = sums
            if bit == 32:
                size = np.abs(value, out=self._room(1, len(sums))) if seen.size is None else self._in_lanes(seen.size, 1)
                of_blocks = _sum_of(size)
            elif bit == 64:
                square = np.multiply(value, value, out=self._room(1, len(sums))) if seen.square is None else self._in_lanes(seen.square, 1)
                of_blocks = _sum_of(square)
            started = np.concatenate((lanes[:, None], of_blocks.reshape(len(lanes), -1, 16)), axis=1)
            self.lanes[bit] = np.add.accumulate(started, axis=1)[:, -1]
        if self.needs & _MOMENT:
            whole = seen.finite is None and seen.value.shape[1] % (16 * self.rows) == 0
            finite = None if whole else self._in_lanes(np.ones(seen.value.shape, bool) if seen.finite is None else seen.finite, 1)
            counts = np.full(len(sums), 16.0 * self.rows) if finite is None else _fold(_sum_of(finite))
            centres = _fold(sums) / counts
            value -= centres[:, None]
            if finite is not None:
                value[finite == 0] = 0.0
            value *= value
            self._merge(counts, centres, _fold(_sum_of(value)))

    def _merge(self, counts: np.ndarray, centres: np.ndarray, about: np.ndarray) -> None:
        """Chan, Golub & LeVeque 1979."""
        blocks = len(counts) // len(self.merged)
        each = zip(counts.tolist(), centres.tolist(), about.tolist())
        for at, (count, mean, moment2) in enumerate(self.merged):
            for more, centre, around in islice(each, blocks):
                if more > 0:
                    total, gap = count + more, centre - mean
                    mean += gap * (more / total)
                    moment2 += around + gap * gap * (count * more / total)
                    count = total
            self.merged[at] = count, mean, moment2


def _count(those: np.ndarray) -> np.ndarray:
    return np.array([np.count_nonzero(each) for each in those]) if len(those) < 8 else np.count_nonzero(those, axis=1)


def _range_of(each: np.ndarray, finite: Optional[np.ndarray]) -> Tuple[np.ndarray, np.ndarray]:
    """Of each array the least and the largest value, of those that are finite."""
    if finite is None:
        return each.min(axis=1), each.max(axis=1)
    return np.where(finite, each, np.inf).min(axis=1), np.where(finite, each, -np.inf).max(axis=1)


def _sum_of(lanes: np.ndarray) -> np.ndarray:
    """Row after row, from 0 on, so that there is no -0."""
    return np.add.reduce(lanes.reshape(len(lanes), -1), axis=0).reshape(-1, 16) + 0.0


def summary_of(values: np.ndarray, needs: int = ALL_TERMS) -> dict:
    """The summary of values in the order of memory."""
    summing = Summing(1, len(values), needs)
    summing.add(values[None])
    return {name: each[0].item() for name, each in summing.found().items()}


def _variance_abs(s):
    centre, centre_abs = s["sum"] / s["finite"], s["sum_abs"] / s["finite"]
    return np.maximum(s["moment2"] / s["finite"] + (centre - centre_abs) * (centre + centre_abs), 0.0)


# name: terms that it needs, what there has to be of for it to be known, how it follows from a summary
FORMULAS = {
    "minimum": (4, "finite", lambda s: s["minimum"]), "minimum_abs": (8, "finite", lambda s: s["abs_minimum"]),
    "maximum": (4, "finite", lambda s: s["maximum"]), "maximum_abs": (8, "finite", lambda s: s["abs_maximum"]),
    "mean": (16, "finite", lambda s: s["sum"] / s["finite"]), "mean_abs": (32, "finite", lambda s: s["sum_abs"] / s["finite"]),
    "stddev": (144, "finite", lambda s: np.sqrt(s["moment2"] / s["finite"])),
    "stddev_abs": (176, "finite", lambda s: np.sqrt(_variance_abs(s))),
    "variance": (144, "finite", lambda s: s["moment2"] / s["finite"]), "variance_abs": (176, "finite", _variance_abs),
    "sum": (16, None, lambda s: s["sum"]), "sum_abs": (32, None, lambda s: s["sum_abs"]),
    "product": (256, None, lambda s: s["product"]), "product_abs": (256, None, lambda s: np.abs(s["product"])),
    "l1": (32, None, lambda s: s["sum_abs"]), "l2": (64, None, lambda s: np.sqrt(s["sum_squares"])),
    "nonfinite": (1, None, lambda s: s["count"] - s["finite"]), "zeros": (2, None, lambda s: s["zeros"]),
    "zero_fraction": (2, "finite", lambda s: s["zeros"] / s["finite"]), "nan_count": (1, None, lambda s: s["nan"]),
    "pos_inf": (1, None, lambda s: s["pos_inf"]), "neg_inf": (1, None, lambda s: s["neg_inf"]),
}
STATISTICS = tuple(FORMULAS)
# what they are of one element that is negative infinity; the others say nothing of an element that is not finite
_OF_INFINITY = {"l1": np.inf, "l2": np.inf}
for _name in ("minimum", "maximum", "mean", "sum", "product"):
    _OF_INFINITY.update({_name: -np.inf, f"{_name}_abs": np.inf})
FIELDS_OF_SUMMARY = ("mask", "count", "nan", "pos_inf", "neg_inf", "zeros") + doubles_of(ALL_TERMS)


def _plain(name: str) -> str:
    inner = name[7:-1] if name.startswith("of_abs(") and name.endswith(")") else ""  # C++ has minimum_abs as of_abs(minimum), too
    return f"{inner}_abs" if inner else name


def formula_of(name: str):
    try:
        return FORMULAS[_plain(name)]
    except KeyError:
        raise BadConfig(f"there is no statistic {name!r}{did_you_mean(name, STATISTICS) or ';'} There are {' '.join(STATISTICS)}") from None


def measured_of(name: str, summaries: dict) -> Tuple[np.ndarray, np.ndarray]:
    """A statistic of many summaries, an array a field; NaN and not known where it is unknown. One element has its value, finite or not."""
    needs, over, formula = formula_of(name)
    s = {field: np.asarray(summaries.get(field, 0), np.float64) for field in FIELDS_OF_SUMMARY[1:]}
    s["finite"] = s["count"] - (s["nan"] + s["pos_inf"] + s["neg_inf"])
    kept = (np.asarray(summaries["mask"], np.int64) & needs) == needs
    known = kept & (s[over] > 0) if over else kept
    with np.errstate(all="ignore"):
        values = np.where(known, formula(s), np.nan)
    lowest = _OF_INFINITY.get(_plain(name))
    if lowest is None:
        return values, known
    alone = kept & (s["count"] == 1) & (s["finite"] == 0)
    element = np.where(s["nan"] > 0, np.nan, np.where(s["neg_inf"] > 0, lowest, np.inf))
    return np.where(alone, element, values), known | alone


QUANTILE_LEVELS = np.array([0, 1, 10, 50, 100, 200, 250, 300, 400, 500, 600, 700, 750, 800, 900, 950, 990, 999, 1000]) / 1000


def distribution_of(values: np.ndarray, quantiles: bool, histogram: bool) -> Optional[Distribution]:
    seen = as_seen(values)
    finite = np.sort(seen.value[seen.finite]) + 0.0
    count = len(finite)
    if count == 0:
        return None
    levels = low = high = bins = None
    if quantiles:
        ranks = [-(-count * int(round(level * 1000)) // 1000) for level in QUANTILE_LEVELS]
        levels = finite[np.maximum(np.array(ranks) - 1, 0)]
    if histogram:
        low, high = float(finite[0]), float(finite[-1])
        width = high * 0.5 - low * 0.5
        places: np.ndarray = np.zeros(count, np.int64)
        if width > 0:
            places = np.minimum(((finite * 0.5 - low * 0.5) / width * 64).astype(np.int64), 63)
        bins = np.bincount(places, minlength=64)
    return Distribution(levels, low, high, bins)
