#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package spotter (tools/python/spotter) against the golden runs as read_format.py reads them, its questions and errors, and damaged
runs. It ends with 2 where NumPy or zstandard is missing."""

import contextlib
import functools
import io
import math
import os
import shutil
import signal
import struct
import tempfile
import unittest
from pathlib import Path

from shared import GOLDEN, SOURCE, same

import numpy as np
import read_format
import spotter as st
import zstandard
from spotter import command_line
from spotter.glob import Glob
from spotter.reader import payload
from spotter.reader.layout import Malformed, has_form


def bits_of(value):
    return struct.pack("<d", value).hex()


class Expected:
    """A run as read_format.py reads its segments: rows in order, by name."""

    def __init__(self, folder):
        self.rows, self.closes, self.findings, self.damage, self.attempt_of = {}, [], [], [], {}
        ordinal = 0
        for path in sorted(folder.glob("*.spot")):
            data, names = path.read_bytes(), {}
            head, parts, _ = read_format.read_segment(data)
            for part in parts:
                if part.kind == "damage":
                    self.damage.append((str(path), part.offset, part.end - part.offset))
                if part.kind != "rows":
                    continue
                ordinal = part.first_ordinal
                for row in part.content:
                    if row.kind == "declare":
                        names[row.id] = row.name.decode()
                    elif row.kind in ("observe", "scalar"):
                        self.rows.setdefault(names[row.id], []).append((row, data, ordinal, head.attempt))
                    elif row.kind == "close":
                        self.closes.append(row)
                        ordinal = row.ordinal + 1
                    elif row.kind == "finding":
                        self.findings.append(row)

    def at_steps(self, name):
        return [each for each in self.rows[name] if each[0].step is not None]

    @staticmethod
    def value(row, data):
        """What is stored, flat; None where nothing is, an exception where it is damaged."""
        if row.kind == "scalar":
            return np.frombuffer(bytes.fromhex(row.data or ""), read_format.DTYPES[row.dtype][2]), (), "C"
        place = next((each for each in row.more if isinstance(each, read_format.Record)), None)
        if place is None:
            return None
        return np.frombuffer(read_format.payload(data, place), read_format.DTYPES[place.dtype][2]), place.shape, "CF"[place.order]


expected_of = functools.lru_cache(maxsize=None)(Expected)


def of_each_golden_run(test):
    """A test that is called for every golden run, and counts what it compares."""
    def of_all(self):
        self.assertGreaterEqual(len(GOLDEN), 10)
        self.compared = 0
        for folder in GOLDEN:
            with self.subTest(run=folder.name):
                test(self, folder, expected_of(folder), st.open_trial(folder))
        self.assertGreater(self.compared, 100)
    return of_all


class TheGoldenRuns(unittest.TestCase):
    @of_each_golden_run
    def test_names_steps_and_times(self, folder, expected, run):
        self.assertEqual(run.names(), sorted(expected.rows))
        self.assertEqual(run.closed_steps(), len(expected.closes))
        closed = {row.step for row in expected.closes}
        for name in run:
            kept = [row.step for row, _, ordinal, _ in expected.at_steps(name)
                    if any(each.ordinal == ordinal and each.step == row.step for each in expected.closes)]
            self.assertEqual([str(step) for step in run[name].steps()], list(dict.fromkeys(f"{read_format.MODES[m]}:{i}" for m, i in kept)))
            self.assertLessEqual(set(run[name].steps()), set(run.steps()))
        for mode in run.modes():
            self.assertLessEqual({step.index for step in run.steps(mode)}, {index for m, index in closed if read_format.MODES[m] == mode})
        for row in expected.closes:
            self.assertEqual(run.step_at(row.ordinal), (read_format.MODES[row.step.mode], row.step.index))
            self.assertEqual(run.step_at(run.ordinal(run.step_at(row.ordinal))), run.step_at(row.ordinal))
            self.compared += 1

    @of_each_golden_run
    def test_values_bit_by_bit(self, folder, expected, run):
        for name in run:
            latest = {row.step: (row, data) for row, data, _, _ in expected.at_steps(name)}
            for step, (row, data) in latest.items():
                wanted = st.Step(read_format.MODES[step.mode], step.index)
                try:
                    stored = expected.value(row, data)
                except read_format.FormatError:
                    self.assertRaises(st.Corrupt, run[name].value, wanted)
                    continue
                if stored is None:
                    self.assertRaisesRegex(st.NoPayload, "only statistics were kept", run[name].value, wanted)
                    continue
                flat, shape, order = stored
                found = np.asarray(run[name].value(wanted, bits=True))
                self.assertEqual(found.shape, tuple(shape))
                self.assertEqual(found.tobytes(order), flat.tobytes())
                self.assertTrue(found.ndim == 0 or found.flags.writeable)
                self.compared += 1
                if flat.size > 3:
                    for first, count in ((1, flat.size - 2), (0, 2), (flat.size - 1, 1), (0, flat.size)):
                        some = run[name].value(wanted, elements=(first, count), bits=True)
                        self.assertEqual(some.tobytes(), flat[first:first + count].tobytes())

    @of_each_golden_run
    def test_what_was_stored_of_statistics(self, folder, expected, run):
        for name in run:
            latest = {row.step: row for row, _, _, _ in expected.at_steps(name)}
            for step, row in latest.items():
                if row.kind != "observe":
                    continue
                found = run[name].summary(st.Step(read_format.MODES[step.mode], step.index))
                for field, value in row.summary.items():
                    if field != "has_previous":
                        self.assertTrue(same(found[field], value) if isinstance(value, float) else found[field] == value, field)
                        self.compared += 1

    @of_each_golden_run
    def test_histories_have_every_observation(self, folder, expected, run):
        for name in run:
            for number, mode in enumerate(read_format.MODES):
                rows = [row for row, _, _, _ in expected.at_steps(name) if row.step.mode == number]
                steps, norms = run[name].history("l2", mode=mode)
                self.assertEqual(steps.tolist(), [row.step.index for row in rows])
                for row, norm in zip(rows, norms.tolist()):
                    if row.kind == "observe" and row.mask & 64:
                        self.assertEqual(bits_of(norm), bits_of(math.sqrt(row.summary["sum_squares"])))
                self.compared += len(rows)

    @of_each_golden_run
    def test_times_of_scalars_and_closes(self, folder, expected, run):
        closes = {(row.ordinal, row.step): row.time for row in expected.closes}
        for name in run:
            for number, mode in enumerate(read_format.MODES):
                reported = [row.time if getattr(row, "time", None) is not None else closes.get((ordinal, row.step), math.nan)
                        for row, _, ordinal, _ in expected.at_steps(name) if row.step.mode == number]
                self.assertTrue(same(run[name].times(mode), reported), (name, mode))
                self.compared += len(reported)

    @of_each_golden_run
    def test_findings_damage_and_ends(self, folder, expected, run):
        self.assertEqual([(each.rule, each.tensor, bits_of(each.measured)) for each in run.findings()],
                         [(row.texts[0].decode(), row.texts[2].decode(), bits_of(row.measured)) for row in expected.findings])
        self.assertEqual([tuple(each) for each in run.damage()], expected.damage)
        self.assertEqual(run.status(), "died" if folder.name == "1-died" else "finished")
        self.assertTrue(run.over())
        self.compared += run.closed_steps()

    def test_loose_scalars_and_texts(self):
        run = st.open_trial(SOURCE / "tests/golden/runs/1-training")
        self.assertEqual([each.value for each in run["lr"].loose()], [0.125 / i for i in range(3, 30, 4)])
        self.assertEqual([each.time for each in run["wall"].loose()], [1.5e9 + i for i in range(3, 30, 4)])
        self.assertEqual(run["note"].loose()[0].value, "r\u00e9sum\u00e9 \"x\"\n")
        self.assertEqual(len(run["loss"].loose()), 0)

    def test_attempts_of_a_resumed_run(self):
        folder = SOURCE / "tests/golden/runs/1-attempts"
        expected, run = expected_of(folder), st.open_trial(folder)
        self.assertEqual(run.attempts(), 2)
        compared = 0
        for attempt in range(2):
            latest = {row.step: row for row, _, _, of in expected.at_steps("loss") if of == attempt}
            for step, row in latest.items():
                found = run["loss"].value(step.index, attempt=attempt)
                self.assertEqual(found.tobytes().hex(), row.data)
                compared += 1
        self.assertGreater(compared, 40)
        self.assertRaises(st.NotInStep, run["loss"].value, 0, attempt=7)

    @of_each_golden_run
    def test_without_whole_sidecars_the_answers_are_the_same(self, folder, expected, run):
        def cut(side):
            side.write_bytes(side.read_bytes()[:150])

        def spoil(side):  # the flags of the first place, so that its declarations would not be looked for
            data = bytearray(side.read_bytes())
            data[52:56] = bytes(4)
            side.write_bytes(data)

        for change in (cut, spoil, Path.unlink):
            with tempfile.TemporaryDirectory() as place:
                copy = Path(place) / "run"
                shutil.copytree(folder, copy)
                for side in copy.glob("*.spotx"):
                    change(side)
                bare = st.open_trial(copy)
                self.assertEqual(bare.steps(), run.steps())
                for name in run:
                    for mode in run.modes():
                        self.assertTrue(same(bare[name].history("l1", mode)[1], run[name].history("l1", mode)[1]))
                        self.compared += len(run[name].history("l1", mode)[1])

    def test_small_floats(self):
        run = st.open_trial(SOURCE / "tests/golden/runs/1-types")
        for number, exponent, mantissa in ((11, 8, 7), (16, 4, 3), (17, 5, 2)):
            stored, found = run[f"type/{number}"].value(0, bits=True), run[f"type/{number}"].value(0)
            self.assertEqual(found.dtype, np.float32)
            for bits, value in zip(stored.ravel().tolist(), found.ravel().tolist()):
                power, fraction = bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1)
                top, bias = (1 << exponent) - 1, (1 << (exponent - 1)) - 1
                reported = math.ldexp(fraction + (power > 0) * (1 << mantissa), max(power, 1) - bias - mantissa)
                reported = -reported if bits >> (exponent + mantissa) else reported
                if power == top and number != 16:
                    reported = math.nan if fraction else math.copysign(math.inf, reported)
                elif number == 16 and bits & 127 == 127:
                    reported = math.nan
                self.assertTrue(same(value, reported), (number, bits))


class Questions(unittest.TestCase):
    def setUp(self):
        self.run_ = st.open_trial(SOURCE / "tests/golden/runs/1-training")

    def test_filters_are_joined(self):
        run = self.run_
        self.assertEqual(run.names("{loss,*/fc}"), ["act/fc", "grad/fc", "loss"])
        self.assertEqual(run.names("[!a-l]*"), ["metric/accuracy", "note", "wall"])
        self.assertEqual(run.names(collection="weights"), ["fc/w"])
        self.assertEqual(run.names(collection="none such"), [])
        self.assertEqual(run.names(mode="predict"), [])
        self.assertEqual(run.names("f*", step="train:0", mode="train"), ["fc/w"])
        self.assertRaises(st.BadConfig, run.names, "[a")
        self.assertRaises(st.BadConfig, run.names, "{a")
        for bad, why in (("x}", "at 1: the } closes"), ("a\\", "at 1: it ends"), ("{" * 100 + "}" * 100, "at 32: braces are nested"),
                         ("*" * 16385, "16384 are the most"), ("{a,[!]}", "at 3: the \\[ is not closed")):
            self.assertRaisesRegex(st.BadConfig, why, run.names, bad)
        self.assertEqual({each.name for each in run.collections()}, {"losses", "weights", "gradients", "shapes"})

    def test_a_glob_is_no_other_than_in_cpp_and_never_goes_back(self):
        for pattern, name, fits in (
                ("", "", True), ("", "a", False), ("*", "", True), ("grad/*", "grad/fc1/w", True), ("a*b*c", "a--b--bc", True),
                ("a*b", "a/bc", False), ("fc?/w", "fc12/w", False), ("[a-cx]", "x", True), ("[]a]", "]", True), ("[!]]", "]", False),
                ("[a-]", "-", True), ("[*?{]", "{", True), ("[^a]", "b", False), ("fc{1,2{a,b}}/w", "fc2b/w", True), ("a{,x}b", "ab", True),
                ("a{}b", "ab", True), ("{a*,*b}c", "xbc", True), ("a,b", "a,b", True), ("\\*", "a", False), ("{a\\,b,c}", "a,b", True),
                ("*" + "a*" * 40 + "b", "a" * 300, False), ("{a,aa,*}" * 60 + "b", "a" * 300, False),
                ("{" * 32 + "loss" + "}" * 32, "loss", True)):
            self.assertEqual(Glob(pattern)(name), fits, (pattern, name))

    def test_steps_can_be_spelled_in_many_ways(self):
        loss = self.run_["loss"]
        self.assertEqual(len({float(loss.value(step)) for step in (6, "6", "train:6", "train(6)", ("train", 6), st.Step("train", 6))}), 1)
        self.assertEqual(loss.last(3, "train:7"), [("train", 5), ("train", 6), ("train", 7)])
        for wrong in ("train:", "test:3", -1, 1.5, ("train",), None):
            self.assertRaises(st.BadConfig, loss.value, wrong)

    def test_errors_say_what_to_do(self):
        run = self.run_
        self.assertRaisesRegex(st.NoSuchName, "names\\(\\) lists", run.__getitem__, "no such")
        self.assertRaises(KeyError, run.__getitem__, "no such")
        self.assertRaisesRegex(st.NoSuchStep, "run.steps\\(\\) lists", run["loss"].value, 10_000)
        types = st.open_trial(SOURCE / "tests/golden/runs/1-types")
        self.assertRaisesRegex(st.NotInStep, "ask steps\\(\\)", types["type/1"].value, "predict:0")
        self.assertRaisesRegex(st.NoPayload, "maximum.*l2.*let a collection keep", run["grad/fc"].value, 0)
        self.assertRaises(st.NoPayload, run["grad/fc"].stat, 0, "mean")
        self.assertRaisesRegex(st.BadConfig, "zero_fraction", run["loss"].stat, 0, "meen")
        self.assertRaisesRegex(st.BadConfig, "train and eval", run["loss"].history)
        self.assertRaisesRegex(st.NoSuchWorker, "workers\\(\\)", run["loss"].of, 3)
        self.assertRaises(st.NoSuchWorker, st.open_trial, run.path, 3)
        self.assertRaises(st.NoMoreData, run.wait, 10_000, 0.1)
        self.assertRaises(st.BadConfig, run["fc/w"].value, 0, elements=(4, 3))
        self.assertRaises(st.BadConfig, run["act/fc"].quantile, 0, 0.123)

    def test_kept_distributions(self):
        found = self.run_["act/fc"].distribution(0)
        self.assertEqual(len(found.quantiles), len(st.QUANTILE_LEVELS))
        self.assertEqual((found.bins.sum(), len(found.edges)), (12, 65))
        self.assertEqual(self.run_["act/fc"].quantile(0, 1), found.high)
        self.assertEqual(self.run_["act/fc"].shape(0), (4, 3))

    def test_nth_observation_of_a_step(self):
        run = st.open_trial(SOURCE / "tests/golden/runs/1-features")
        self.assertEqual(run["w"].shape(0), (1,))
        self.assertEqual([len(run["w"].value(0, nth=i)) for i in range(2)], [4, 1])
        self.assertRaises(st.NotInStep, run["w"].value, 0, nth=2)

    def test_a_value_is_the_same_whatever_was_read_before(self):
        def reported(run, name, step):
            try:
                return np.asarray(run[name].value(step)).tobytes()
            except st.SpotterError as why:
                return type(why).__name__

        compared = 0
        for folder in GOLDEN:
            run, steps = st.open_trial(folder), [each for each in st.open_trial(folder).steps()][:12]
            names = run.names()
            alone = {(name, step): reported(st.open_trial(folder), name, step) for name in names for step in steps}
            run.damage()  # reads everything
            for step in 3 * steps:
                for name in 4 * names:
                    self.assertEqual(reported(run, name, step), alone[name, step], (folder.name, name, step))
                    compared += 1
        self.assertGreater(compared, 3000)

    def test_the_spelling_of_smdebug(self):
        trial = st.open_trial(self.run_.path)
        self.assertEqual(trial.tensor("loss").steps("eval"), self.run_["loss"].steps("eval"))
        self.assertEqual(dict(trial.tensor("fc/w").values()).keys(), set(trial.tensor("fc/w").payload_steps()))
        self.assertEqual(st.create_trial(self.run_.path).run["loss"].steps(), self.run_["loss"].steps())


class AnotherWorkingFolder(unittest.TestCase):
    def test_a_relative_path_is_the_place_that_it_was(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        golden = GOLDEN[-1]
        shutil.copytree(golden, Path(place.name) / "runs" / "a")
        os.chdir(place.name)
        run, whole = st.open_trial("runs/a"), st.open_trial(golden)
        os.chdir("/")
        self.assertEqual(run.path, "runs/a")
        run.refresh()
        self.assertEqual(run.steps(), whole.steps())
        compared = 0
        for name in whole.names():
            for step in whole[name].payload_steps():
                self.assertEqual(np.asarray(run[name].value(step)).tobytes(), np.asarray(whole[name].value(step)).tobytes(), name)
                compared += 1
        self.assertGreater(compared, 10)


class WhatIsNoRun(unittest.TestCase):
    def test_names_what_is_there_instead(self):
        with tempfile.TemporaryDirectory() as place:
            self.assertRaisesRegex(st.NotARun, "is no folder", st.open_trial, place + "/none")
            self.assertRaisesRegex(st.NotARun, "holds no 000000.spot", st.open_trial, place)
            shutil.copytree(GOLDEN[0], place + "/a")
            self.assertRaisesRegex(st.NotARun, "there are runs in it: .*/a", st.open_trial, place)
            (Path(place) / "000000.spot").write_bytes(b"something else, and long enough to be the head of a segment of a run, but none")
            self.assertRaisesRegex(st.NotARun, "is not a spotter segment", st.open_trial, place)
            self.assertRaisesRegex(st.NotARun, "is no folder", st.open_trial, place + "/000000.spot")

    @unittest.skipUnless(hasattr(os, "mkfifo"), "pipes")
    def test_waits_for_no_pipe(self):
        def in_the_place_of(name):
            path = Path(place) / name.replace(".", "-")
            shutil.copytree(GOLDEN[0], path)
            (path / name).unlink(missing_ok=True)
            os.mkfifo(path / name)
            return path

        signal.alarm(20)  # ends the test, if it waits after all
        try:
            with tempfile.TemporaryDirectory() as place:
                whole = st.open_trial(GOLDEN[0])
                for name in ("000000.spotx", "lock", "000007.spot"):
                    self.assertEqual(st.open_trial(in_the_place_of(name)).steps(), whole.steps())
                lost = in_the_place_of("000000.spot")
                self.assertEqual([each.file for each in st.open_trial(lost).damage()], [str(lost / "000000.spot")])
                (lost.parent / "only").mkdir()
                os.mkfifo(lost.parent / "only" / "000000.spot")
                self.assertRaises(st.NotARun, st.open_trial, lost.parent / "only")
        finally:
            signal.alarm(0)

    def test_a_run_that_is_just_beginning_is_one(self):
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "000000.spot").write_bytes(b"")
            run = st.open_trial(place)
            self.assertEqual((run.names(), run.steps(), run.damage(), run.status()), ([], [], [], "died"))

    def test_another_version_is_refused(self):
        with tempfile.TemporaryDirectory() as place:
            data = bytearray((GOLDEN[0] / "000000.spot").read_bytes())
            data[16] = 9
            data[56:64] = read_format.crc64(bytes(data[:56])).to_bytes(8, "little")
            (Path(place) / "000000.spot").write_bytes(data)
            self.assertRaisesRegex(st.UnknownVersion, "version 9", st.open_trial, place)


class Damaged(unittest.TestCase):
    """Whatever happens to its bytes, a run opens, says what is wrong, and gives no wrong value."""

    def values_of(self, run):
        found = {}
        for name in run:
            for step in run.steps():
                try:
                    found[name, step] = np.asarray(run[name].value(step, bits=True)).tobytes()
                except st.SpotterError as why:
                    self.assertTrue(str(why))
        return found

    def check(self, folder, change, whole):
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / "run"
            shutil.copytree(folder, copy)
            file = copy / "000000.spot"
            file.write_bytes(change(file.read_bytes()))
            try:
                run = st.open_trial(copy)
            except (st.NotARun, st.UnknownVersion):
                return None
            found = self.values_of(run)
            for key, value in found.items():
                self.assertEqual(value, whole[key], key)
            for mode in run.modes():
                for name in run:
                    run[name].history("mean", mode)
            return len(found), run.damage()

    def test_statistics_of_sizes_have_two_spellings(self):
        run = st.open_trial(SOURCE / "tests/golden/runs/1-packed")
        for name in run:
            spelt, called = (run[name].history(each, run.modes()[0])[1] for each in ("of_abs(maximum)", "maximum_abs"))
            self.assertEqual(spelt.tobytes(), called.tobytes())
            for wrong in ("of_abs(l2)", "of_abs()", "of_abs(", "abs(maximum)"):
                with self.assertRaises(st.BadConfig):
                    run[name].history(wrong)

    def test_flipped_bytes(self):
        for name in ("1-training", "1-packed", "1-chains"):
            folder = SOURCE / "tests/golden/runs" / name
            whole = self.values_of(st.open_trial(folder))
            size = (folder / "000000.spot").stat().st_size
            damaged = 0
            for at in range(70, size, size // 10):
                found = self.check(folder, lambda data: data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1:], whole)
                damaged += found is not None and (found[0] < len(whole) or bool(found[1]))
            self.assertGreater(damaged, 5)

    def test_torn_tails(self):
        folder = SOURCE / "tests/golden/runs/1-training"
        whole = self.values_of(st.open_trial(folder))
        size, before = (folder / "000000.spot").stat().st_size, -1
        for end in range(0, size, size // 12):
            found = self.check(folder, lambda data: data[:end], whole)
            self.assertIsNotNone(found)
            self.assertGreaterEqual(found[0], before)
            before = found[0]

    def test_declarations_that_were_lost_are_taken_from_another_segment_of_the_attempt(self):
        folder = SOURCE / "tests/golden/runs/1-features"
        whole = st.open_trial(folder)
        steps, losses = whole.steps(), whole["loss"].history("mean", "train")
        # One bit of the first frame that declares: in the first segment it has 16 steps beside; in the second nothing else.
        for name, at, closes in (("000000.spot", 300, 16), ("000001.spot", 100, 0)):
            with tempfile.TemporaryDirectory() as place:
                copy = Path(place) / "run"
                shutil.copytree(folder, copy)
                data = bytearray((copy / name).read_bytes())
                data[at] ^= 1
                (copy / name).write_bytes(data)
                run = st.open_trial(copy)
                self.assertGreaterEqual(len(run.steps()), len(steps) - closes - 1)
                left = len(run["loss"].history("mean", "train"))
                self.assertGreater(left, 0)
                self.assertGreaterEqual(left, len(losses) - closes - 1)
                self.assertEqual(len(run.damage()), 1)

    def test_one_damaged_value_leaves_the_others(self):
        folder = SOURCE / "tests/golden/runs/1-damaged"
        run = st.open_trial(folder)
        values = run["fc/w"].values(skip_corrupt=True)
        self.assertEqual(len(list(values)), 5)
        self.assertRaisesRegex(st.Corrupt, "spotter verify", list, run["fc/w"].values())


class TheFormsOfValues(unittest.TestCase):
    """Masks and planes that contradict one another: damage for both readers, whatever a header claims."""

    def read(self, frames, form, total, part=False):
        return payload.unpack(b"".join(frames), form, total, 0, 2 if part else total, zstandard.ZstdDecompressor()).tobytes()

    def frame(self, *content):
        return zstandard.ZstdCompressor(write_checksum=True).compress(bytes(content))

    def test_a_mask_says_where_the_values_stand(self):
        two = self.frame(7, 9)
        self.assertEqual(self.read([self.frame(0b100101), two, two], 34, 10), bytes([7, 7, 0, 0, 9, 9, 0, 0, 0, 0]))
        self.assertEqual(self.read([self.frame(0), two, two], 34, 4), bytes([7, 7, 9, 9]))
        self.assertEqual(self.read([self.frame(0b10000)], 34, 8), bytes(8))
        self.assertEqual(self.read([self.frame(0b01), self.frame(0b10)], 18, 2), struct.pack("<H", 0x8100))

    def test_a_mask_that_contradicts_its_planes_is_damage(self):
        f = self.frame
        two, three, mask = f(7, 9), f(7, 8, 9), f(0b100101)
        for frames, total in (([mask, three, three], 10), ([f(0b100111), two, two], 10), ([mask, two, three], 10), ([mask, two], 10),
                              ([mask], 10), ([f(0b101, 0), two, two], 16), ([f(1), two, two], 10), ([f(), two, two], 10), ([two, two], 4),
                              ([f(0), f(), f()], 10), ([f(0)], 10), ([bytes(40)], 10),
                              ([f(*bytes(16385), 1)], 2 * 8 * 16385), ([f(*bytes(1 << 16), 1)], 1 << 20)):
            place = read_format.Record(dtype=7, order=0, shape=(total // 2,), form=34, offset=0, bytes=sum(map(len, frames)), bases=[])
            for part in (False, True):
                self.assertRaises(Malformed, self.read, frames, 34, total, part)
            self.assertRaises(read_format.FormatError, read_format.payload, b"".join(frames), place)

    def test_a_form_that_is_not_known_is_none_of_the_type(self):
        for form in (0, 2, 8, 17, 64 | 4, 128 | 4, 255):
            self.assertFalse(has_form(12, form), form)
        self.assertTrue(has_form(12, 4) and has_form(12, 52) and has_form(2, 33) and has_form(14, 20))

    def test_frames_that_are_cut_or_flipped(self):
        folder = SOURCE / "tests/golden/runs/2-forms"
        data = (folder / "000000.spot").read_bytes()
        rows = [row for part in read_format.read_segment(data)[1] for row in part.content if row.kind == "observe"]
        for row in rows[::7]:
            place = row.more[-1]
            whole, frames = read_format.payload(data, place), data[place.offset:place.offset + place.bytes]
            for at in range(0, len(frames), 1 + len(frames) // 40):
                for changed in (frames[:at], frames[:at] + bytes([frames[at] ^ 16]) + frames[at + 1:]):
                    try:
                        self.assertEqual(self.read([changed], place.form, len(whole)), whole)
                    except Malformed:
                        pass


class Meant(unittest.TestCase):
    """What is misspelt is answered with the nearest that there is."""

    RUN = str(GOLDEN[0])

    def test_names_and_statistics(self):
        run = st.open_trial(self.RUN)
        with self.assertRaises(st.NoSuchName) as why:
            run["los"]
        self.assertIn('did you mean "loss"? names() lists what was', str(why.exception))
        with self.assertRaises(st.NoSuchName) as why:
            run["quite another"]
        self.assertIn('never observed: names()', str(why.exception))
        with self.assertRaises(st.BadConfig) as why:
            run["loss"].history("maen")
        self.assertIn("there is no statistic 'maen': did you mean \"mean\"? There are minimum", str(why.exception))

    def test_the_command(self):
        for words, said in (("curv x", 'there is no \'curv\': did you mean "curve"?'),
                            (f"curve {self.RUN} los", '"los" was never observed: did you mean "loss"?'),
                            (f"curve {self.RUN} loss --stt l2", "'--stt' is not known here: did you mean \"--stat\"?"),
                            (f"curve {self.RUN} loss --mode trian", 'there is no \'trian\': did you mean "train"?'),
                            (f"curve {self.RUN} loss --stat maen", 'did you mean "mean"?')):
            err = io.StringIO()
            with self.subTest(words), contextlib.redirect_stderr(err):
                try:
                    code = command_line.main(words.split())
                except SystemExit as ended:
                    code = ended.code
                self.assertEqual(code, 3 if "los " in words + " " else 2)
            self.assertIn(said, err.getvalue())


if __name__ == "__main__":
    unittest.main()
