# SPDX-License-Identifier: Apache-2.0
"""The statistics of docs/stat.md, to the bit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Optional, Tuple

import numpy as np

from ..errors import BadConfig
from ..model import Distribution
from .rows import ALL_TERMS, DELTA, HASH, doubles_of


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


def _lane_sums(blocks: np.ndarray) -> np.ndarray:
    """Of blocks x rows x 16 elements the 16 sums of each block, row after row."""
    sums = np.zeros((blocks.shape[0], 16))
    for row in range(blocks.shape[1]):
        sums += blocks[:, row]
    return sums


def _fold(lanes: np.ndarray) -> np.ndarray:
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def summary_of(values: np.ndarray) -> dict:
    """The summary of values in the order of memory: every sum in 16 lanes and blocks of 1024, as when it is taken while recording."""
    rows = 64 if len(values) >= 1024 else max(1, -(-len(values) // 16))
    found: dict = dict.fromkeys(("nan", "pos_inf", "neg_inf", "zeros"), 0)
    lanes = {"sum": np.zeros(16), "sum_abs": np.zeros(16), "sum_squares": np.zeros(16)}
    ranges, product, count, mean, moment2 = [], 1.0, 0.0, 0.0, 0.0
    for start in range(0, len(values), 1 << 18):
        seen = as_seen(values[start:start + (1 << 18)])
        for name, each in (("nan", seen.nan), ("pos_inf", seen.pos_inf), ("neg_inf", seen.neg_inf), ("zeros", seen.zero)):
            found[name] += int(each.sum())
        if seen.finite.any():
            value, size = seen.value[seen.finite], seen.size[seen.finite]
            ranges.append((value.min(), value.max(), size.min(), size.max()))
            with np.errstate(all="ignore"):
                product = np.multiply.accumulate(np.concatenate(([product], value)))[-1]
        blocks = -(-len(seen.value) // (16 * rows))

        def shaped(each):
            return np.concatenate((each, np.zeros(blocks * rows * 16 - len(each), each.dtype))).reshape(blocks, rows, 16)

        with np.errstate(all="ignore"):
            sums = _lane_sums(shaped(seen.value))
            for name, each in (("sum", sums), ("sum_abs", _lane_sums(shaped(seen.size))),
                               ("sum_squares", _lane_sums(shaped(seen.square)))):
                lanes[name] = np.add.accumulate(np.concatenate((lanes[name][None], each)))[-1]
            finite = shaped(seen.finite)
            counts = finite.sum(axis=(1, 2)).astype(np.float64)
            centres = _fold(sums) / counts
            gaps = np.where(finite, shaped(seen.value) - centres[:, None, None], 0.0)
            about = _fold(_lane_sums(gaps * gaps))
        for more, centre, around in zip(counts.tolist(), centres.tolist(), about.tolist()):
            if more > 0:  # Chan, Golub & LeVeque 1979
                total, gap = count + more, centre - mean
                mean += gap * (more / total)
                moment2 += around + gap * gap * (count * more / total)
                count = total
    if ranges:
        low, high, small, large = zip(*ranges)
        found.update(minimum=min(low) + 0.0, maximum=max(high) + 0.0, abs_minimum=min(small), abs_maximum=max(large))
    else:
        found.update(minimum=0.0, maximum=0.0, abs_minimum=0.0, abs_maximum=0.0)
    found.update({name: _fold(each) for name, each in lanes.items()})
    return {"mask": ALL_TERMS & ~(DELTA | HASH), "count": len(values), "moment2": moment2, "product": product, **found}


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
FIELDS_OF_SUMMARY = ("mask", "count", "nan", "pos_inf", "neg_inf", "zeros") + doubles_of(ALL_TERMS)


def formula_of(name: str):
    plain = name[7:-1] if name.startswith("of_abs(") and name.endswith(")") else ""  # C++ has minimum_abs as of_abs(minimum), too
    try:
        return FORMULAS[f"{plain}_abs" if plain else name]
    except KeyError:
        raise BadConfig(f"there is no statistic {name!r}; there are {' '.join(STATISTICS)}") from None


def measured_of(which, summaries: dict) -> Tuple[np.ndarray, np.ndarray]:
    """A statistic of many summaries, an array a field; NaN and not known where it is unknown."""
    needs, over, formula = which
    s = {name: np.asarray(summaries.get(name, 0), np.float64) for name in FIELDS_OF_SUMMARY[1:]}
    s["finite"] = s["count"] - (s["nan"] + s["pos_inf"] + s["neg_inf"])
    known = (np.asarray(summaries["mask"], np.int64) & needs) == needs
    if over:
        known = known & (s[over] > 0)
    with np.errstate(all="ignore"):
        return np.where(known, formula(s), np.nan), known


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
