#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/exploring.md, block by block, on a run that examples/digits has just recorded: the command line, Python, the program and the data
have to say the same.

Environment: SPOTTER_DIGITS (the program), SPOTTER_TOOL (the command line), SPOTTER_DATA (the folder with digits.csv.gz). It ends with 2
where one of them, NumPy or zstandard is missing.
"""

import contextlib
import csv
import gzip
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from shared import SOURCE

import numpy as np

MISSING = [name for name in ("SPOTTER_DIGITS", "SPOTTER_TOOL", "SPOTTER_DATA") if not os.path.exists(os.environ.get(name, ""))]
if MISSING:
    print(f"{' and '.join(MISSING)} not set, or of nothing that is there", file=sys.stderr)
    sys.exit(2)


def blocks(language):
    page = (SOURCE / "docs" / "exploring.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


class ThePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        with gzip.open(Path(os.environ["SPOTTER_DATA"]) / "digits.csv.gz") as packed:
            (cls.folder / "digits.csv").write_bytes(packed.read())
        cls.said = subprocess.run([os.environ["SPOTTER_DIGITS"], "digits.csv"], cwd=cls.folder, capture_output=True, text=True,
                                  check=True).stdout
        (cls.folder / "bin").mkdir()
        (cls.folder / "bin" / "spotter").symlink_to(Path(os.environ["SPOTTER_TOOL"]).resolve())
        path = f"{cls.folder / 'bin'}:{os.environ['PATH']}"
        cls.shell = [subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=cls.folder, capture_output=True, text=True, check=True,
                                    env={**os.environ, "PATH": path}).stdout for block in blocks("sh")]
        cls.python, cls.printed, before = {}, [], os.getcwd()
        os.chdir(cls.folder)
        for block in blocks("python"):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(block, cls.python)
            cls.printed.append(out.getvalue())
        os.chdir(before)
        cls.data = np.loadtxt(cls.folder / "digits.csv", delimiter=",", dtype=int)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_every_question_is_asked_both_ways(self):
        self.assertEqual((len(self.shell), len(self.python["run"].modes()), len(self.printed)), (5, 2, 5))
        for reported in self.shell:
            self.assertTrue(reported.strip())

    def test_the_loss_is_the_one_that_the_program_printed(self):
        printed = re.findall(r"step +(\d+)  loss ([\d.]+)", self.said)
        loss = dict(zip(self.python["steps"].tolist(), self.python["loss"].tolist()))
        self.assertEqual(len(printed), 16)
        for step, reported in printed:
            self.assertEqual(f"{loss[int(step) - 1]:.4f}", reported)
        with open(self.folder / "loss.csv", newline="", encoding="ascii") as file:
            table = {(row["mode"], int(row["index"])): float(row["loss:mean"]) for row in csv.DictReader(file)}
        self.assertEqual({index: value for (mode, index), value in table.items() if mode == "train"}, loss)
        reported = dict(line.split("\t") for line in self.shell[1].splitlines() if line.startswith("eval("))
        evaluations = zip(self.python["evaluations"].tolist(), self.python["loss_of_evaluations"].tolist())
        self.assertEqual({step: np.float32(value) for step, value in reported.items()}, {f"eval({i})": np.float32(value) for i, value in evaluations})  # a float is printed as one

    def test_label_counts_are_those_of_the_data(self):
        labels, run = self.data[:, 64], self.python["run"]
        of_all, judged_by = np.bincount(labels, minlength=10), self.python["judged_by"]
        lines = [line.split() for line in self.shell[2].splitlines() if re.fullmatch(r" *\d+ \d", line)]
        self.assertEqual([int(count) for count, _ in lines], judged_by.tolist())
        self.assertEqual(judged_by.sum(), len(labels) - len(labels) * 4 // 5)
        # An epoch sees each of the other pictures at most once, and but for the last, smaller batch all of them.
        batches = [batch for _, batch in run["labels"].values("train")]
        of_epoch = len(batches) // 16
        for epoch in range(16):
            seen = np.bincount(np.concatenate(batches[epoch * of_epoch:(epoch + 1) * of_epoch]), minlength=10)
            left_over = of_all - judged_by - seen
            self.assertTrue(np.all(left_over >= 0))
            self.assertEqual(left_over.sum(), len(labels) * 4 // 5 % 32)
        self.assertEqual(self.python["learnt_from"].sum(), 16 * of_epoch * 32)

    def test_wrong_predictions_are_the_share_that_the_program_counted(self):
        accuracy = re.search(r"reads ([\d.]+) % of (\d+) test digits", self.said)
        self.assertEqual(f"{100 * self.python['accuracy']:.2f}", accuracy[1])
        self.assertEqual(len(self.python["shown"]), int(accuracy[2]))
        shown, read, wrong = (self.python[name] for name in ("shown", "read", "wrong"))
        self.assertEqual(self.shell[3].splitlines(), [f"picture {i} shows {shown[i]} read as {read[i]}" for i in wrong])
        self.assertEqual(self.python["confusion"].trace(), len(shown) - len(wrong))
        rows = re.findall(r"^ +(\d) ((?: +[\d.]+){10})$", self.said, re.MULTILINE)
        self.assertEqual([[0 if each == "." else int(each) for each in row.split()] for _, row in rows],
                         self.python["confusion"].tolist())

    def test_pictures_are_those_of_the_data(self):
        run, last = self.python["run"], self.python["last"]
        inputs = np.rint(run["input"].value(last) * 16).astype(int)
        known = {tuple(row[:64]): row[64] for row in self.data.tolist()}
        self.assertEqual([known[tuple(row)] for row in inputs.tolist()], self.python["shown"].tolist())
        self.assertEqual(self.python["pictures"].shape, (len(self.python["wrong"]), 8, 8))
        drawn = ["".join(" .:o#@"[int(pixel / 16 * 5.99)] for pixel in row) for row in inputs[17].reshape(8, 8).tolist()]
        self.assertEqual(self.shell[4].splitlines()[:8], drawn)
        archive = np.load(self.folder / "last.npz", allow_pickle=False)
        for name in ("input", "labels", "logits"):
            self.assertEqual(archive[name].tobytes(), run[name].value(last).tobytes())

    def test_the_gradients_are_drawn(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("matplotlib is missing (python3-matplotlib)")
        picture = self.folder / "gradients.png"
        subprocess.run([sys.executable, SOURCE / "examples" / "gradient_distributions.py", self.folder / "runs" / "digits", picture],
                       check=True, capture_output=True, env={**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(self.folder)})
        import matplotlib.image
        pixels = matplotlib.image.imread(picture)
        self.assertGreater(min(pixels.shape[:2]), 500)
        blue = (pixels[..., 2] > pixels[..., 0] + 0.2).mean()
        self.assertTrue(0.1 < blue < 0.9, f"{blue:.2f} of the picture are bands")


if __name__ == "__main__":
    unittest.main()
