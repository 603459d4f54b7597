#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Statistics from values in the package spotter: to the bit the same whether values come at once or in pieces, for one tensor or many, and
against the order of additions that docs/internals/stat.md defines, written out; what is kept of them. tests/python/test_recorded.py holds them
against those that C++ stored. It ends with 2 where NumPy or zstandard is missing."""

import unittest

from shared import GOLDEN, same

import numpy as np
import spotter as st
from spotter.reader import segment
from spotter.reader.rows import ALL_TERMS
from spotter.reader.statistics import FORMULAS, Summing, measured_of, summary_of

SIZES = (0, 1, 15, 16, 17, 200, 1023, 1024, 1025, 2048, 70_000, 140_001)
RANDOM = np.random.default_rng(1797)


def some(count, kind):
    values = RANDOM.normal(0, 3, count)
    if kind == "complex":
        return values + 1j * RANDOM.normal(0, 3, count)
    if kind == "integers":
        return (1e17 * values).astype(np.int64)
    if kind == "bytes":
        return values.astype(np.int8)
    if kind == "flags":
        return values > 0
    values = values.astype(np.float32 if kind != "doubles" else np.float64)
    values[::7] = 0
    if kind == "bad":
        values[::5], values[1::11], values[2::13] = np.nan, np.inf, -np.inf
    return values


KINDS = ("floats", "doubles", "bad", "complex", "integers", "bytes", "flags")


def in_lanes(values):
    """docs/internals/stat.md, one element after the other."""
    rows = 64 if len(values) >= 1024 else max(1, -(-len(values) // 16))
    total = np.zeros(16)
    for start in range(0, len(values), 16 * rows):
        block = np.zeros(16)
        for i, each in enumerate(values[start:start + 16 * rows].tolist()):
            block[i % 16] += each
        total = total + block
    while len(total) > 1:
        total = total[:len(total) // 2] + total[len(total) // 2:]
    return total[0]


class FromValues(unittest.TestCase):
    def assert_same(self, one, other, what):
        self.assertEqual(one.keys(), other.keys(), what)
        for name in one:
            self.assertTrue(same(one[name], other[name]), (what, name, one[name], other[name]))

    def test_sums_go_as_the_page_says(self):
        for count in SIZES:
            values = some(count, "doubles")
            found = summary_of(values)
            for name, each in (("sum", values), ("sum_abs", np.abs(values)), ("sum_squares", values * values)):
                self.assertTrue(same(found[name], in_lanes(each)), (count, name))

    def test_in_pieces(self):
        for kind in KINDS:
            for count in SIZES:
                values = some(count, kind)
                whole, summing, at = summary_of(values), Summing(1, count), 0
                while at < count:
                    size = int(RANDOM.integers(1, max(2, count // 3)))
                    summing.add(values[None, at:at + size])
                    at += size
                self.assert_same({name: each[0] for name, each in summing.found().items()}, whole, (kind, count))

    def test_many_at_once(self):
        for kind in KINDS:
            for count in (0, 1, 17, 200, 1024, 1500, 5000):
                values = np.stack([some(count, kind) for _ in range(9)])
                summing = Summing(len(values), count)
                summing.add(values)
                found = summing.found()
                for i, each in enumerate(values):
                    self.assert_same({name: column[i] for name, column in found.items()}, summary_of(each), (kind, count, i))

    def test_what_is_needed_alone_is_the_same(self):
        for kind in KINDS:
            values = some(3000, kind)
            whole = summary_of(values)
            for name, which in FORMULAS.items():
                part = summary_of(values, which[0])
                self.assertTrue(same(measured_of(name, part)[0], measured_of(name, whole)[0]), (kind, name))
                self.assertEqual(part["mask"] & which[0], which[0])
                self.assertLess(len(part), len(whole))

    def test_against_numpy(self):
        """Roughly: a slip in all of the above alike would not show there."""
        values = some(70_000, "bad")
        finite = values[np.isfinite(values)].astype(np.float64)
        found = summary_of(values)
        for name, expected in (("mean", finite.mean()), ("stddev", finite.std()), ("maximum", finite.max()), ("minimum_abs", np.abs(finite).min()),
                               ("l2", np.sqrt((finite * finite).sum())), ("zeros", (finite == 0).sum()),
                               ("nan_count", np.isnan(values).sum()), ("pos_inf", (values == np.inf).sum()),
                               ("neg_inf", (values == -np.inf).sum())):
            self.assertAlmostEqual(float(measured_of(name, found)[0]), float(expected), delta=1e-9 * max(1, abs(expected)), msg=name)

    def test_one_element_is_its_value_finite_or_not(self):
        for value in (np.nan, np.inf, -np.inf):
            found = summary_of(np.array([value]))
            for name, expected in (("mean", value), ("sum", value), ("maximum", value), ("of_abs(minimum)", abs(value)), ("l2", abs(value)),
                                   ("stddev", None), ("zero_fraction", None)):
                measured, known = measured_of(name, found)
                self.assertEqual(bool(known), expected is not None, (value, name))
                self.assertTrue(same(measured, np.float64(np.nan if expected is None else expected)), (value, name))
            self.assertFalse(measured_of("mean", summary_of(np.array([value, value])))[1])
        self.assertFalse(measured_of("mean", summary_of(np.array([np.nan]), FORMULAS["l2"][0]))[1])


class Kept(unittest.TestCase):
    """What was once made of values is not read again; whatever the order of questions, the answers are the same."""

    def test_in_any_order(self):
        for folder in GOLDEN:
            names, orders = list(st.open_trial(folder)), (list(FORMULAS), list(FORMULAS)[::-1])
            for name in names:
                reported = []
                for order in orders:
                    track = st.open_trial(folder)[name]
                    reported.append({(stat, mode): track.history(stat, mode)[1] for stat in order for mode in st.MODES})
                for question, each in reported[0].items():
                    self.assertTrue(same(each, reported[1][question]), (folder.name, name, question))

    def test_values_are_read_once(self):
        read = []
        before = segment.Segment.values
        segment.Segment.values = lambda self, *given: read.append(given) or before(self, *given)
        self.addCleanup(setattr, segment.Segment, "values", before)
        track = st.open_trial(next(each for each in GOLDEN if each.name == "1-attempts"))["loss"]
        wide = next(run[name] for run in map(st.open_trial, GOLDEN) for name in run
                    if run[name].payload_steps() and run[name].info.shape and run[name].info.dtype == "f32")
        for each in (track, wide):
            each.history("product")
        once = len(read)
        self.assertGreater(once, 0)
        for each in (track, wide):
            each.history("product")
            for mode in st.MODES:
                each.history("product", mode)
        self.assertEqual(len(read), once)

    def test_all_terms_are_there(self):
        self.assertEqual(summary_of(some(10, "floats"))["mask"], ALL_TERMS & ~(512 | 1024))


if __name__ == "__main__":
    unittest.main()
