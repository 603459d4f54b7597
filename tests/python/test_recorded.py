#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package spotter (tools/python/spotter) on runs that are recorded now, some while they are read, and against the command line.

Environment: SPOTTER_RECORD (the program of record.cpp) and SPOTTER_TOOL (the command line); what needs one that is not named is skipped.
It ends with 2 where NumPy or zstandard is missing.
"""

import contextlib
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from shared import GOLDEN, SOURCE, same

import numpy as np
import spotter as st
from spotter import command_line

RECORD, TOOL = os.environ.get("SPOTTER_RECORD"), os.environ.get("SPOTTER_TOOL")


@unittest.skipUnless(RECORD, "SPOTTER_RECORD does not name the program of record.cpp")
class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/run"

    def record(self, what, path=None, *more):
        subprocess.run([RECORD, what, path or self.path, *more], check=True)
        return st.open_trial(path or self.path)

    def test_statistics_from_values_are_the_stored_ones_to_the_bit(self):
        stored, computed = self.record("statistics"), self.record("values", self.path + "-values")
        self.assertEqual((stored["f64"].info.flags, stored["f32"].info.flags), (("log_probabilities",), ()))
        compared = 0
        for name in stored:
            for statistic in ("minimum", "maximum_abs", "sum", "mean_abs", "l2", "stddev_abs", "product", "zeros", "nan_count", "neg_inf"):
                kept, made = stored[name].history(statistic)[1], computed[name].history(statistic)[1]
                self.assertTrue(same(kept, made), (name, statistic, kept, made))
                compared += int(np.isfinite(kept).sum())
            for step in stored[name].steps():
                try:
                    kept = stored[name].distribution(step)
                except st.NotInStep:
                    self.assertRaises(st.NotInStep, computed[name].distribution, step)
                    continue
                made = computed[name].distribution(step)
                self.assertTrue(same(kept.quantiles, made.quantiles), (name, step))
                self.assertEqual((kept.low, kept.high, kept.bins.tolist()), (made.low, made.high, made.bins.tolist()), (name, step))
        self.assertGreater(compared, 700)

    def test_several_workers(self):
        run = self.record("workers")
        self.assertEqual((run.workers(), run.expected_workers(), run.status()), ([0, 1, 2], 3, "finished"))
        self.assertEqual(sorted(run.steps("train")), [("train", 0), ("train", 1), ("train", 2)])
        self.assertTrue({"compiler", "flags", "target", "cores", "system"} <= set(run.environment()))
        self.assertEqual(run.steps(closed_by="all"), [("train", 0)])
        self.assertEqual(run.steps(worker=1), [("train", 0), ("train", 1)])
        self.assertEqual([float(run["x"].value(i)) for i in range(3)], [0.0, 11.0, 22.0])
        self.assertEqual(float(run["x"].of(2).value(0)), 20.0)
        self.assertRaises(st.NotInStep, run["x"].of(0).value, 1)
        self.assertEqual(float(run["accuracy"].value("eval:0")), 0.5)
        self.assertEqual(run.names(worker=0), ["x"])
        self.assertEqual(st.open_trial(self.path, worker=2).workers(), [2])
        self.assertEqual(st.open_trial(self.path + "/worker-2").steps(), st.open_trial(self.path, worker=2).steps())
        self.assertEqual((run.state(2), run.state(2, worker=0), run.state(9)), ("present", "absent", "absent"))

    def test_a_worker_that_never_began_counts_as_died(self):
        self.record("workers")
        shutil.rmtree(self.path + "/worker-2")
        run = st.open_trial(self.path)
        self.assertEqual((run.workers(), run.status(), run.why_ended()), ([0, 1], "died", "1 of 3 workers never began"))
        self.assertEqual(run.steps(closed_by="all"), [])
        self.assertRaises(st.NoSuchWorker, run.status, 2)

    def test_one_workers_damage_stays_its_own(self):
        self.record("workers")
        (Path(self.path) / "worker-1" / "000000.spot").write_bytes(b"no segment" * 20)
        run = st.open_trial(self.path)
        self.assertRaises(st.Corrupt, run["x"].value, 2)  # that worker's value would come first
        self.assertEqual(float(run["x"].of(2).value(2)), 22.0)
        self.assertEqual([(each.file, each.bytes) for each in run.damage()], [(self.path + "/worker-1", 0)])

    def test_thinned_segments_keep_their_statistics(self):
        run = self.record("thinned")
        noise = run["noise"]
        self.assertEqual(len(noise.steps()), 100)
        self.assertLess(len(noise.payload_steps()), 60)
        self.assertRaisesRegex(st.NoPayload, "larger ring, or a larger limit", noise.value, 0)
        self.assertTrue(np.all(np.isfinite(noise.history("l2")[1])))
        for step, value in noise.values():
            self.assertAlmostEqual(noise.stat(step, "l2"), float(np.linalg.norm(value.astype(np.float64))), delta=1e9)
        self.assertEqual(run.damage(), [])

    def test_packed_steps_read_as_columns(self):
        run = self.record("scalars", None, "5000")
        steps, loss = run["loss"].history()
        self.assertEqual(steps.tolist(), list(range(5000)))
        self.assertTrue(same(loss, (np.float32(1) / np.arange(1, 5001, dtype=np.float32)).astype(np.float64)))
        self.assertEqual(run["act"].history("zeros")[1].tolist(), [1.0, 2.0, 3.0, 4.0, 5.0])
        self.assertTrue(np.all(np.diff(run["loss"].times()) >= 0))

    def live(self, what="live"):
        program = subprocess.Popen([RECORD, what, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.stdin.close)

        def tell(command):
            program.stdin.write(command + "\n")
            program.stdin.flush()
            return program.stdout.readline()

        return tell

    def test_a_run_that_is_being_written(self):
        tell = self.live()
        for i in range(5):
            tell(f"step {i}")
        run = st.open_trial(self.path)
        self.assertEqual((run.status(), len(run.steps()), run.over()), ("running", 5, False))
        self.assertEqual((run.state(4), run.state(5)), ("present", "pending"))
        self.assertRaisesRegex(st.NotYet, "refresh\\(\\)", run["loss"].value, 5)
        tell("step 5")
        tell("step 7")
        self.assertEqual(len(run.steps()), 5)  # a snapshot
        self.assertRaises(st.NotYet, run["loss"].value, 5)
        run.refresh()
        self.assertEqual((len(run.steps()), run.state(6)), (7, "absent"))
        self.assertEqual(float(run["loss"].value(7)), 1 / 8)
        self.assertEqual((run["w"].value(7)[0], run["w"].shape(7)), (7, (150,)))
        self.assertRaises(st.NoSuchStep, run.wait, 6, 5)
        begin = time.monotonic()
        self.assertRaises(st.NotYet, run.wait, 8, 0.1)
        self.assertLess(time.monotonic() - begin, 5)
        tell("open 8")
        run.refresh()
        self.assertEqual(float(run["loss"].value(8)), 8.0)  # of a step that is still open
        self.assertRaises(st.NotYet, run["loss"].time, 8)
        self.assertEqual(len(run.steps()), 7)
        tell("close")
        run.wait(8, 5)
        self.assertEqual(len(run.steps()), 8)
        self.assertGreaterEqual(run.age(), 0)
        self.assertEqual(run.damage(), [])
        tell("finish")
        run.refresh()
        self.assertEqual((run.status(), run.state(9)), ("finished", "absent"))
        self.assertRaises(st.NoMoreData, run.wait, 9, 5)
        self.assertEqual(run["loss"].history()[0].tolist(), [0, 1, 2, 3, 4, 5, 7, 8])

    def test_steps_up_to_the_largest_index(self):
        tell, indices = self.live(), [0, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
        for index in indices:
            tell(f"step {index}")
        tell("finish")
        run = st.open_trial(self.path)
        self.assertEqual([each.index for each in run.steps()], indices)
        steps, loss = run["loss"].history()
        self.assertEqual(steps.tolist(), indices)
        self.assertEqual(loss[0], 1.0)
        self.assertIn(str(2**64 - 1), run["loss"]._repr_html_())
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(command_line.main(["curve", self.path, "loss"]), 0)
        self.assertEqual([int(line.split("\t")[1]) for line in printed.getvalue().splitlines()], indices)

    def test_a_run_whose_segments_are_thinned_while_it_is_read(self):
        tell = self.live("limited")
        tell("step 0")
        run = st.open_trial(self.path)
        first = run["w"].value(0)
        for i in range(1, 200):
            tell(f"step {i}")
            if i % 3 == 0:
                run.refresh()
                self.assertEqual(run["w"].value(i)[0], i)
        tell("finish")
        run.refresh()
        self.assertEqual(run["w"].value(0).tolist(), first.tolist())  # the file is gone, the trial is as it was
        fresh = st.open_trial(self.path)
        for each in (run, fresh):
            self.assertEqual([step.index for step in each["w"].steps()], list(range(200)))
            self.assertEqual(each["loss"].history()[1].tolist(), [1 / (i + 1) for i in range(200)])
            self.assertEqual(each.damage(), [])
            for step, value in each["w"].values():
                self.assertEqual(value[0], step.index)
        self.assertLess(len(fresh["w"].payload_steps()), 60)
        self.assertRaises(st.NoPayload, fresh["w"].value, 0)

    def test_runs_that_fail_and_die(self):
        tell = self.live()
        tell("step 0")
        tell("fail")
        run = st.open_trial(self.path)
        self.assertEqual((run.status(), run.why_ended()), ("failed", "no more data"))
        self.path += "-died"
        tell = self.live()
        tell("step 0")
        run = st.open_trial(self.path)
        tell("kill")
        for _ in range(200):
            run.refresh()
            if run.status() != "running":
                break
            time.sleep(0.01)
        self.assertEqual((run.status(), run.state(1), len(run.steps())), ("died", "absent", 1))


@unittest.skipUnless(TOOL, "SPOTTER_TOOL does not name the command line")
class TheCommandLine(unittest.TestCase):
    """It says the same."""

    LOST = 5  # the exit code of every verb where rows of the record are lost

    def ask(self, *words):
        """What it prints, and of a record that lost something nothing less."""
        reported = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True)
        self.assertIn(reported.returncode, (0, self.LOST), reported.stderr)
        return reported.stdout

    def test_csv_has_the_same_histories(self):
        statistics, compared = ("mean", "l2", "variance", "maximum_abs", "zero_fraction"), 0
        for folder in GOLDEN:
            run = st.open_trial(folder)
            names = [name for name in run if run[name].steps()]
            words = [word for name in names for word in ("--name", name)] + [word for each in statistics for word in ("--stat", each)]
            for row in csv.DictReader(io.StringIO(self.ask("export", folder, "-", *words))):
                step = (row["mode"], int(row["index"]))
                for name, statistic in ((name, statistic) for name in names for statistic in statistics):
                    reported = row[f"{name}:{statistic}"]
                    if reported == "NA":
                        self.assertRaises(st.Corrupt, run[name].stat, step, statistic)
                    elif reported:
                        self.assertTrue(same(run[name].stat(step, statistic), float(reported)), (folder.name, name, step, statistic))
                        compared += 1
        self.assertGreater(compared, 1000)

    def test_damage_is_the_same(self):
        def cut(path):
            path.write_bytes(path.read_bytes()[:-100])

        def spoil(path):
            data = bytearray(path.read_bytes())
            for at in range(7, len(data), len(data) // 3):
                data[at] ^= 1
            path.write_bytes(data)

        met = 0
        for folder in GOLDEN:
            segments = sorted(each.name for each in folder.glob("*.spot"))
            for change in (Path.unlink, cut, spoil):
                for segment in segments:
                    with tempfile.TemporaryDirectory() as place:
                        copy = Path(place) / "run"
                        shutil.copytree(folder, copy)
                        change(copy / segment)
                        try:
                            run = st.open_trial(copy)
                        except st.NotARun:
                            self.assertEqual(subprocess.run([TOOL, "info", copy], capture_output=True).returncode, 3)
                            continue
                        reported = json.loads(self.ask("info", copy, "--json"))
                        ours = [tuple(each) for each in run.damage()]
                        theirs = [(each["file"], each["offset"], each["bytes"]) for each in reported["damage"]]
                        self.assertEqual(sorted(set(ours)), sorted(set(theirs)), (folder.name, segment, change))
                        self.assertEqual(reported["status"], run.status())
                        met += len(ours)
                        self.assertEqual(list(reported["steps"].values()), [run.closed_steps(), *(len(run.steps(mode)) for mode in st.MODES)])
        self.assertGreater(met, 40)

    def test_json_has_the_same_names_and_values(self):
        for folder in GOLDEN:
            run = st.open_trial(folder)
            names = json.loads(self.ask("ls", folder, "--json"))["names"]
            self.assertEqual([each["name"] for each in names], run.names())
            for each in names:
                info = run[each["name"]].info
                self.assertEqual((each["role"], each["type"], tuple(each["shape"])), (info.role, info.dtype, info.shape))
            reported = json.loads(self.ask("info", folder, "--json"))
            totals = run.totals()
            self.assertEqual((reported["status"], reported["attempts"]), (run.status(), run.attempts()))
            self.assertEqual(reported["steps"]["closed"], run.closed_steps())
            self.assertEqual((reported["lost"]["dropped"], reported["lost"]["thinned"]), (totals.dropped, totals.thinned))
            self.assertEqual(reported["bytes"]["segments"], totals.bytes)
            for finding, ours in zip(reported["findings"], run.findings()):
                self.assertEqual([finding[key] for key in ("severity", "rule", "reason", "tensor", "measure", "decision", "others")],
                                 [ours.severity, ours.rule, ours.reason, ours.tensor, ours.measure, ours.decision, ours.others])
        run = st.open_trial(SOURCE / "tests/golden/runs/1-types")
        for name in run:
            step = run[name].payload_steps()[-1]
            reported = json.loads(self.ask("show", run.path, name, "--step", step, "--json"))
            ours = np.atleast_1d(run[name].value(step)).ravel()
            if np.iscomplexobj(ours):
                ours = ours.view(ours.real.dtype)
                reported["values"] = [part for pair in reported["values"] for part in pair]
            self.assertTrue(same([float(each) for each in reported["values"]], ours.astype(np.float64)), name)


class ItsOwnCommandLine(unittest.TestCase):
    """What it advises can be typed."""
    TRAINING = str(SOURCE / "tests/golden/runs/1-training")

    def ask(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = command_line.main([*words])
        return code, out.getvalue(), err.getvalue()

    def test_values_that_were_not_kept(self):
        code, out, err = self.ask("value", self.TRAINING, "fc/w", "eval:1")
        self.assertEqual((code, out), (3, ""))
        self.assertNotIn("()", err)  # no call of Python
        self.assertIn("Values of 2 of its steps of eval were kept, the nearest at eval:0, eval:4.", err)
        self.assertEqual(self.ask("value", self.TRAINING, "fc/w", "eval:4")[0], 0)
        advice = shlex.split(re.search("`(spotter-py .*?)`", err)[1])
        code, out, _ = self.ask(*advice[1:])
        self.assertEqual((code, len(out.splitlines())), (0, 6))
        run = st.open_trial(self.TRAINING)
        mode, step, value = out.splitlines()[1].split("\t")
        self.assertEqual((mode, step, float(value)), ("eval", "1", run["fc/w"].stat("eval:1", advice[advice.index("--stat") + 1])))

    def test_values_of_which_none_were_kept(self):
        code, _, err = self.ask("value", self.TRAINING, "grad/fc", "3")
        self.assertEqual(code, 3)
        self.assertIn("No values of it were kept in train: a collection", err)
        self.assertIn(f"`spotter-py curve {self.TRAINING} grad/fc --stat ", err)

    def test_the_nearest_steps_are_the_nearest(self):
        _, _, err = self.ask("value", self.TRAINING, "fc/w", "13")
        self.assertIn("Values of 6 of its steps of train were kept, the nearest at train:8, train:12, train:16, train:20.", err)


if __name__ == "__main__":
    unittest.main()
