#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of runs, tensors and findings: sound HTML that says what the record says, needs nothing else and hides nothing.
It ends with 2 where NumPy or zstandard is missing."""

import re
import unittest
from html.parser import HTMLParser

from shared import GOLDEN, SOURCE

import numpy as np
import spotter
from spotter import create_trial
from spotter.notebook import curve, of_finding, of_run

TRAINING = SOURCE / "tests" / "golden" / "runs" / "1-training"


class Sound(HTMLParser):
    """Every element is closed in its order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.attributes, self.elements = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.elements.append(tag)
        self.attributes += attributes

    def handle_startendtag(self, tag, attributes):
        self.elements.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append(data)


def points(svg):
    """Of each curve its points, in pixels."""
    return [[tuple(map(float, each)) for each in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]
            for path in re.findall(r"<path d='([^']*)' fill='none' stroke='#", svg)]


class Notebook(unittest.TestCase):
    def setUp(self):
        self.run_ = spotter.open_trial(TRAINING)

    def test_every_golden_run_and_tensor_is_sound(self):
        drawn = 0
        for path in GOLDEN:
            run = spotter.open_trial(path)
            for shown in [run, *(run[name] for name in run), *run.findings()]:
                page = Sound(shown._repr_html_())
                drawn += page.elements.count("svg")
                self.assertNotIn("script", page.elements)
                for name, value in page.attributes:  # nothing is fetched, and no colour of the page is taken for granted
                    self.assertNotIn(name, ("src", "href", "srcset", "data"))
                    self.assertNotRegex(value, r"url\(|background")
        self.assertGreater(drawn, 20)

    def test_a_run_says_what_it_is(self):
        texts = " ".join(Sound(self.run_._repr_html_()).texts)
        for said in (str(TRAINING), "finished, 30 steps", "8 names", "non_finite", "originates here", "fc/w", "gradients"):
            self.assertIn(said, texts)
        self.assertEqual(create_trial(TRAINING)._repr_html_(), self.run_._repr_html_())

    def test_a_tensor_is_drawn_where_it_was(self):
        loss = self.run_["loss"]
        drawn = points(loss._repr_html_())
        self.assertEqual([len(each) for each in drawn], [len(loss.steps("train")), len(loss.steps("eval"))])
        steps, values = loss.history("mean", mode="train")
        everywhere = loss.history("mean", mode="eval")[1].tolist() + values.tolist()
        heights = np.interp(values, (min(everywhere), max(everywhere)), (94, 6))
        self.assertLess(np.abs(np.array(drawn[0])[:, 1] - heights).max(), 0.06)
        for mode, points_of in zip(("train", "eval"), drawn):  # side by side as they were closed, 0 to 29
            places = np.interp([self.run_.ordinal(step) for step in loss.steps(mode)], (0, 29), (64, 414))
            self.assertLess(np.abs(np.array(points_of)[:, 0] - places).max(), 0.06)
        alone = points(spotter.open_trial(GOLDEN[0])["loss"]._repr_html_())
        self.assertEqual(len(alone), 1)
        gradient = self.run_["grad/fc"]._repr_html_()  # of which no mean was kept
        self.assertIn("mean_abs of grad/fc", gradient)
        self.assertEqual(sum(map(len, points(gradient))), int(np.isfinite(np.concatenate(
            [self.run_["grad/fc"].history("mean_abs", mode)[1] for mode in ("train", "eval")])).sum()))
        self.assertEqual(create_trial(TRAINING).tensor("loss")._repr_html_(), loss._repr_html_())
        self.assertNotIn("<svg", self.run_["note"]._repr_html_())  # a text

    def test_what_is_no_number_is_a_gap_and_a_mark(self):
        steps = np.arange(6)
        svg = curve([("train", steps, np.array([1.0, 2.0, np.nan, 2.0, np.inf, 3.0]))], "x")
        self.assertEqual(svg.count("v-5"), 2)
        self.assertEqual(re.search(r"<path d='(M[^']*)' fill='none' stroke='#", svg).group(1).count("M"), 3)
        self.assertIn("no number", curve([("train", steps, np.full(6, np.nan))], "x"))
        self.assertEqual(curve([], "x"), "")
        huge = curve([("train", steps, np.array([1e308, -1e308] * 3))], "x")
        self.assertNotIn("nan", huge)
        self.assertEqual(len(points(huge)[0]), 6)

    def test_elements_that_are_no_number_are_marked_though_the_statistic_is_one(self):
        gradient, marks = self.run_["grad/fc"], []
        for mode in ("train", "eval"):
            bad = np.flatnonzero((gradient.history("nonfinite", mode)[1] > 0) & np.isfinite(gradient.history("mean_abs", mode)[1]))
            marks += [np.interp(self.run_.ordinal(gradient.steps(mode)[at]), (0, 29), (64, 414)) for at in bad]
        drawn = [float(each) for each in re.findall(r"M([\d.]+) 94v-5", gradient._repr_html_())]
        self.assertGreater(len(marks), 0)
        for place in marks:
            self.assertLess(min(abs(each - place) for each in drawn), 0.06)
        weights = self.run_["fc/w"]._repr_html_()  # values at some steps, and nothing of which a mean follows at the others
        self.assertNotIn("v-5", weights)
        self.assertEqual([each[0].count("L") for each in re.findall(r"<path d='(M[^']*)' fill='none' stroke='(#)", weights)],
                         [len(self.run_["fc/w"].payload_steps(mode)) - 1 for mode in ("train", "eval")])

    def test_the_gravest_finding_is_reported_first(self):
        """Fifty hints stand before the error in the record; the page has room for twenty."""
        run = spotter.open_trial(TRAINING)
        error = next(each for each in run.findings() if each.severity == "error")
        run.findings = lambda: [error._replace(severity="note", rule=f"hint_{at}") for at in range(50)] + [error]
        page = of_run(run)
        self.assertLess(page.index(error.rule), page.index("hint_0"))
        self.assertLess(page.index("hint_0"), page.index("hint_1<"))

    def test_a_spike_is_not_thinned_away(self):
        values = np.sin(np.arange(100_000) / 5000)
        values[31_415], values[70_000] = 50, np.nan
        svg = curve([("eval", np.arange(100_000), values)], "x")
        self.assertLess(len(svg), 20_000)
        self.assertEqual(min(y for _, y in points(svg)[0]), 6.0)  # the spike, at the top
        self.assertEqual(svg.count("v-5"), 1)

    def test_what_a_record_says_is_no_markup(self):
        finding = self.run_.findings()[0]._replace(rule="<b onload=x>", reason="a <i> b", tensor="<script>alert(1)</script>", remedy="</div>")
        page = Sound(of_finding(finding))
        self.assertNotIn("script", page.elements)
        self.assertIn("<script>alert(1)</script>", page.texts)
        self.assertIn("<b onload=x>", page.texts)
        self.assertNotIn("i", page.elements)
        drawn = curve([("train", np.arange(2), np.arange(2.0))], "' onload='x' <i>")
        self.assertNotIn("onload", [name for name, _ in Sound(drawn).attributes])


if __name__ == "__main__":
    unittest.main()
