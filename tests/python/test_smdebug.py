#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smdebug's calls over spotter's records: the golden runs, runs that are recorded now, and one while it is written.

Environment: SPOTTER_RECORD (the program of record.cpp); what needs it is skipped without. It ends with 2 where NumPy or zstandard is missing.
"""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from shared import SOURCE

import numpy as np
import spotter
from spotter import CollectionKeys, ModeKeys, StepState, create_trial, modes
from spotter.analysis.utils import no_refresh, parse_bool, parse_list_from_str, refresh
from spotter.reader.asked import policy_of, request_of
from spotter.exceptions import (InvalidWorker, MissingCollectionFiles, NoMoreData, ShapeUnavailableForStep, StepNotYetAvailable,
                                StepUnavailable, TensorUnavailable, TensorUnavailableForStep)

TRAINING = SOURCE / "tests" / "golden" / "runs" / "1-training"  # 24 steps of train, 6 of eval in between
RECORD = os.environ.get("SPOTTER_RECORD")


class AFinishedRun(unittest.TestCase):
    def setUp(self):
        self.trial = create_trial(TRAINING)
        self.run_ = spotter.open_trial(TRAINING)

    def test_steps_are_global_or_of_a_mode(self):
        trial = self.trial
        self.assertEqual(trial.steps(), list(range(30)))
        self.assertEqual(trial.steps(mode=modes.EVAL), list(range(6)))
        self.assertEqual(trial.steps(mode=modes.PREDICT), [])
        self.assertEqual(set(trial.modes()), {ModeKeys.TRAIN, ModeKeys.EVAL})
        for step in self.run_.steps():
            mode = ModeKeys[step.mode.upper()]
            number = trial.global_step(mode, step.index)
            self.assertEqual(number, self.run_.ordinal(step))
            self.assertEqual((trial.mode(number), trial.mode_step(number)), (mode, step.index))
        self.assertEqual(trial.global_step(modes.GLOBAL, 7), 7)
        self.assertEqual((trial.global_step(modes.TRAIN, 999), trial.mode(999), trial.mode_step(999)), (None, None, None))

    def test_the_same_value_by_either_number(self):
        weights = self.trial.tensor("fc/w")
        compared = 0
        for mode in (modes.TRAIN, modes.EVAL):
            for index, value in weights.values(mode=mode).items():
                number = self.trial.global_step(mode, index)
                self.assertEqual(value.tobytes(), weights.value(number).tobytes())
                self.assertEqual(value.tobytes(), self.run_["fc/w"].value((mode.mode, index)).tobytes())
                compared += 1
        self.assertEqual(compared, len(weights.values()))
        self.assertEqual(compared, len(self.run_["fc/w"].payload_steps()))
        self.assertGreater(compared, 5)

    def test_names_by_regex_collection_mode_and_step(self):
        names = self.trial.tensor_names
        self.assertEqual(names(), self.run_.names())
        self.assertEqual(names(regex="fc"), ["act/fc", "fc/w", "grad/fc"])  # anywhere in the name
        self.assertEqual(names(regex=["^grad", "^loss$"]), ["grad/fc", "loss"])
        self.assertEqual(names(regex="nothing"), [])
        self.assertEqual(names(collection="gradients"), ["grad/fc"])
        self.assertEqual(names(collection=CollectionKeys.METRICS), ["metric/accuracy"])  # by its role: the plan has none of that name
        self.assertEqual(names(collection=self.trial.collection("weights")), ["fc/w"])
        self.assertEqual(names(collection="all"), self.run_.names())
        self.assertEqual((names(collection="none"), names(step=999), names(step=0, mode=modes.PREDICT)), ([], [], []))
        self.assertEqual(names(step=3, mode=modes.EVAL), self.run_.names(step="eval:3"))
        self.assertEqual(names(step=3), self.run_.names(step=self.run_.step_at(3)))
        self.assertEqual(names(mode=modes.EVAL), self.run_.names(mode="eval"))
        self.assertEqual(names(step=3, regex="loss"), ["loss"])
        self.assertRaises(ValueError, names, regex="fc", collection="weights")
        self.assertEqual(self.trial.tensors(collection="weights"), ["fc/w"])

    def test_collections(self):
        found = self.trial.collections()
        self.assertTrue({"losses", "weights", "gradients", "shapes", "all"} <= set(found))
        self.assertEqual((found["losses"].name, found["losses"].tensor_names), ("losses", {"loss"}))
        self.assertTrue(found["losses"].has_tensor_name("loss"))
        self.assertEqual(self.trial.collection("none").tensor_names, set())

    def test_what_is_not_there(self):
        trial = self.trial
        self.assertFalse(trial.has_tensor("nope"))
        self.assertTrue(trial.has_tensor("loss"))
        with self.assertRaises(TensorUnavailable) as caught:
            trial.tensor("nope")
        self.assertEqual(caught.exception.tname, "nope")
        self.assertIsInstance(caught.exception, spotter.NoSuchName)  # spotter's own errors, too
        self.assertRaises(StepUnavailable, trial.tensor("loss").value, 999)
        self.assertRaises(spotter.NoSuchStep, trial.tensor("loss").value, 999)
        with self.assertRaises(TensorUnavailableForStep) as caught:
            trial.tensor("grad/fc").value(0)  # of gradients this run kept statistics only
        self.assertTrue(caught.exception.has_reductions)
        self.assertIn("reduction_value", str(caught.exception))
        evaluation = trial.global_step(modes.EVAL, 0)
        missing = next(name for name in trial.tensor_names() if name not in trial.tensor_names(step=evaluation))
        self.assertRaises(TensorUnavailableForStep, trial.tensor(missing).value, evaluation)
        self.assertRaises(TensorUnavailableForStep, trial.tensor(missing).reduction_value, evaluation, "mean")
        self.assertRaises(ShapeUnavailableForStep, trial.tensor(missing).shape, evaluation)
        self.assertRaises(InvalidWorker, trial.tensor("loss").value, 0, worker="worker_7")
        with tempfile.TemporaryDirectory() as place:
            self.assertRaises(MissingCollectionFiles, create_trial, place)
            self.assertRaises(spotter.NotARun, create_trial, place)

    def test_reductions(self):
        weights = self.trial.tensor("fc/w")
        step = self.trial.steps()[0]
        for name, of in (("min", np.min), ("max", np.max), ("mean", np.mean), ("std", np.std), ("variance", np.var), ("sum", np.sum),
                         ("prod", np.prod), ("l1", lambda x: np.abs(x).sum()), ("l2", np.linalg.norm)):
            for abs_ in (False, True):
                kept = weights.value(step).astype(np.float64)
                self.assertAlmostEqual(weights.reduction_value(step, name, abs=abs_), of(np.abs(kept) if abs_ else kept), 12, (name, abs_))
        self.assertEqual(weights.reduction_value(step, "zero_fraction"), self.run_["fc/w"].stat(0, "zero_fraction"))
        self.assertRaisesRegex(spotter.BadConfig, "min max", weights.reduction_value, step, "median")
        stored = weights.reduction_values(step)
        self.assertEqual(set(stored), {("mean", False), ("sum", False), ("l2", False), ("l2", True)})  # what the plan kept, and follows
        self.assertEqual(stored["l2", False], self.run_["fc/w"].stat(0, "l2"))
        loss = self.trial.tensor("loss")
        self.assertEqual(loss.reduction_values(0)["max", False], float(loss.value(0)))

    def test_statistics_are_of_the_finite(self):
        gradient = self.trial.tensor("grad/fc")
        bad = self.trial.global_step(modes.EVAL, 1)  # where the run's own rule found two elements that are no numbers
        self.assertEqual(gradient.reduction_value(bad, "nonfinite"), 2)
        self.assertTrue(np.isfinite(gradient.reduction_value(bad, "mean", abs=True)))
        self.assertRaisesRegex(TensorUnavailableForStep, "l2 was not kept.*mean_abs", gradient.reduction_value, bad, "l2")  # what was kept
        self.assertRaisesRegex(TensorUnavailableForStep, "reduction_value.*values\\(\\)", gradient.value, bad)

    def test_previous_steps_and_shapes(self):
        weights = self.trial.tensor("fc/w")
        self.assertEqual(weights.prev_steps(13, 2), [8, 12])  # the plan keeps every fourth of a mode
        self.assertEqual(weights.prev_steps(10), [0, 4, 8])
        self.assertEqual(weights.prev_steps(9, 2, mode=modes.TRAIN), [0, 8])
        self.assertEqual(weights.prev_steps(4, 5), [0, 4])
        losses = self.trial.tensor("loss")
        self.assertEqual(losses.prev_steps(9, 3), [7, 8, 9])
        self.assertEqual(losses.prev_steps(9), list(range(10)))
        self.assertEqual(losses.prev_steps(3, 2, mode=modes.EVAL), [2, 3])
        self.assertEqual(weights.shape(0), (2, 3))
        self.assertEqual(weights.shapes(mode=modes.EVAL), {step: (2, 3) for step in weights.steps(mode=modes.EVAL)})
        self.assertEqual(weights.workers(0), ["worker_0"])

    def test_states_and_waiting(self):
        trial = self.trial
        self.assertTrue(trial.loaded_all_steps)
        self.assertEqual((trial.has_passed_step(29), trial.has_passed_step(30)), (StepState.AVAILABLE, StepState.UNAVAILABLE))
        self.assertEqual(trial.has_passed_step(5, modes.EVAL), StepState.AVAILABLE)
        trial.wait_for_steps([0, 29])
        trial.wait_for_steps(range(6), mode=modes.EVAL)
        with self.assertRaises(NoMoreData) as caught:
            trial.wait_for_steps([3, 6], mode=modes.EVAL)
        self.assertEqual((caught.exception.step, caught.exception.last_step), (6, 5))
        self.assertIsInstance(caught.exception, spotter.NoMoreData)

    def test_a_range_of_steps(self):
        trial = create_trial(TRAINING, range_steps=(10, 20))
        self.assertEqual(trial.steps(), list(range(10, 20)))
        self.assertEqual(trial.tensor("loss").steps(), list(range(10, 20)))
        self.assertEqual(sorted(trial.tensor("loss").values()), list(range(10, 20)))
        self.assertRaises(StepUnavailable, trial.tensor("loss").value, 3)
        self.assertEqual(trial.has_passed_step(3), StepState.UNAVAILABLE)
        self.assertEqual(create_trial(TRAINING, range_steps=(None, 3)).steps(), [0, 1, 2])
        self.assertEqual(create_trial(TRAINING, range_steps=(27, None)).steps(), [27, 28, 29])
        for wrong in ((5, 5), (-1, 3), ("a", None)):
            self.assertRaises(spotter.BadConfig, create_trial, TRAINING, range_steps=wrong)

    def test_name_path_and_no_word_on_the_terminal(self):
        self.assertEqual((self.trial.name, self.trial.path), ("1-training", str(TRAINING)))
        self.assertEqual(create_trial(f" {TRAINING} ", name="mine").name, "mine")
        self.assertIs(self.trial.logger, logging.getLogger("spotter"))
        said = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(SOURCE / 'tools/python')!r})\n"
                               f"from spotter import create_trial\nt = create_trial({str(TRAINING)!r}); t.tensor_names(regex='none')"],
                              capture_output=True, text=True, check=True)
        self.assertEqual((said.stdout, said.stderr), ("", ""))

    def test_a_resumed_run_gives_each_step_one_number(self):
        """The latest closing's; the run's second attempt began again behind where the first had died."""
        trial = create_trial(TRAINING.parent / "1-attempts")
        steps = trial.steps()
        self.assertEqual(len(steps), len(set(steps)))
        self.assertEqual(len(steps), len(trial.steps(mode=modes.TRAIN)))
        self.assertEqual([trial.mode_step(each) for each in steps], sorted(trial.steps(mode=modes.TRAIN)))


class WhatACollectionAsks(unittest.TestCase):
    STEPS = [(mode, index) for mode in range(3) for index in range(1200)]

    def at(self, text):
        """The steps that a policy lets through, as the record writes it."""
        modes_, indices = np.array(self.STEPS, np.uint64).T
        found = policy_of(text)(modes_.astype(np.uint8), indices)
        return [step for step, through in zip(self.STEPS, found.tolist()) if through]

    def test_policies(self):
        for text, lets in (("always", lambda mode, i: True), ("never", lambda mode, i: False),
                           ("every{7}", lambda mode, i: i % 7 == 0), ("every{0}", lambda mode, i: False),
                           ("from{5}", lambda mode, i: i >= 5), ("before{5}", lambda mode, i: i < 5),
                           ("between{3, 9}", lambda mode, i: 3 <= i < 9), ("at{4}", lambda mode, i: i == 4),
                           ("at{9, 4, 1100}", lambda mode, i: i in (4, 9, 1100)), ("during{eval}", lambda mode, i: mode == 1),
                           ("(every{100} && from{5})", lambda mode, i: i % 100 == 0 and i >= 5),
                           ("((every{100} && before{101}) || at{700})", lambda mode, i: i in (0, 100, 700)),
                           ("((every{2} && during{train}) || (every{3} && during{eval}))",
                            lambda mode, i: (mode == 0 and i % 2 == 0) or (mode == 1 and i % 3 == 0)),
                           ("!(during{train} || !every{4})", lambda mode, i: mode != 0 and i % 4 == 0),
                           (f"at{{{', '.join(str(each) for each in range(0, 1200, 4))}}}", lambda mode, i: i % 4 == 0),
                           ("!" * 250 + "always", lambda mode, i: True)):
            self.assertEqual(self.at(text), [step for step in self.STEPS if lets(*step)], text)

    def test_what_is_no_policy(self):
        for text in ("", "a function of the step", "every{}", "every{-1}", "every{3", "(always)", "(always && )", "(always&&never)", "always ",
                     "at{}", "during{test}", "(" * 5000, "!" * 5000, "every{3}, always", "sampled{worker 0 of 2, keep 1, seed 0}",
                     f"from{{{1 << 64}}}"):
            self.assertIsNone(policy_of(text), text)

    def test_sentences(self):
        for sentence, index, mask, other in (
                ('"*", always: payload', 3, 0, ("payload",)), ('"a: b, always", every{2}: sum, counts', 4, 17, ()),
                ('names{a, always, b}, at{1, 4}: range, sum of |x|', 4, 36, ()),
                ('regex{"x, every{3}: y"}, !at{1, 2}: variance, as delta{3}', 4, 128, ())):
            request = request_of(sentence)
            self.assertEqual((request.mask, request.other), (mask, other), sentence)
            self.assertTrue(request.when(np.zeros(1, np.uint8), np.array([index], np.uint64))[0], sentence)
        for sentence in ("role::weight, a function of the step: sum", "names{a_long_name, another", ""):
            self.assertIsNone(request_of(sentence).when, sentence)
        self.assertEqual(request_of("names{a_long_name, another")[1:], (0, ()))  # cut: whatever there is, is what it asked for


class HelpersOfRules(unittest.TestCase):
    def test_texts_as_parameters(self):
        self.assertEqual((parse_list_from_str("a,b"), parse_list_from_str(["a"]), parse_list_from_str(""), parse_list_from_str(None)),
                         (["a", "b"], ["a"], [], []))
        self.assertEqual((parse_bool("True", False), parse_bool(None, True), parse_bool(False, True)), (True, True, False))
        self.assertRaises(ValueError, parse_bool, "yes", False)


@unittest.skipUnless(RECORD, "SPOTTER_RECORD does not name the program of record.cpp")
class Recorded(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name + "/run"

    def live(self, *worker):
        program = subprocess.Popen([RECORD, "live", self.path, *worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.stdin.close)

        def tell(command):
            program.stdin.write(command + "\n")
            program.stdin.flush()
            return program.stdout.readline()

        return tell

    def test_several_workers(self):
        subprocess.run([RECORD, "workers", self.path], check=True)
        trial = create_trial(self.path)
        self.assertEqual((trial.workers(), trial.num_workers), (["worker_0", "worker_1", "worker_2"], 3))
        x = trial.tensor("x")
        self.assertEqual([float(x.value(step, mode=modes.TRAIN)) for step in range(3)], [0.0, 11.0, 22.0])
        self.assertEqual(float(x.value(0, worker="worker_2")), 20.0)
        self.assertEqual(float(x.value(0, worker=1)), 10.0)
        self.assertEqual(x.workers(1, mode=modes.TRAIN), ["worker_1", "worker_2"])
        self.assertRaises(InvalidWorker, x.value, 1, mode=modes.TRAIN, worker="worker_0")
        self.assertEqual({step: float(value) for step, value in x.values(mode=modes.TRAIN, worker="worker_2").items()},
                         {0: 20.0, 1: 21.0, 2: 22.0})
        self.assertEqual(trial.steps(mode=modes.TRAIN), [0, 1, 2])  # the run is over: none is incomplete
        self.assertEqual(trial.mode(trial.global_step(modes.TRAIN, 2)), modes.TRAIN)

    def test_steps_up_to_the_largest_index(self):
        tell, indices = self.live(), [0, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
        for index in indices:
            tell(f"step {index}")
        trial = create_trial(self.path)
        w = trial.tensor("w")
        for _ in ("while it is written", "when it is over"):
            self.assertEqual(trial.steps(mode=modes.TRAIN), indices)
            self.assertEqual(trial.steps(), list(range(5)))
            self.assertEqual(w.steps(mode=modes.TRAIN), indices)
            self.assertEqual([int(value[0]) for value in w.values(mode=modes.TRAIN).values()], indices)
            for at, index in enumerate(indices):
                self.assertEqual(w.prev_steps(index, mode=modes.TRAIN), indices[:at + 1])
                self.assertEqual(trial.has_passed_step(index, modes.TRAIN), StepState.AVAILABLE)
            self.assertEqual(w.prev_steps(2**63 + 1, 2, mode=modes.TRAIN), indices[1:3])
            self.assertEqual(w.prev_steps(-1, mode=modes.TRAIN), [])
            tell("finish")

    def test_a_worker_that_never_began(self):
        subprocess.run([RECORD, "workers", self.path], check=True)
        shutil.rmtree(self.path + "/worker-2")
        trial = create_trial(self.path)
        self.assertEqual((trial.workers(), trial.num_workers), (["worker_0", "worker_1"], 3))
        self.assertEqual(trial.has_passed_step(0), StepState.AVAILABLE)  # nobody writes any more

    def test_a_run_that_is_being_written(self):
        tell = self.live()
        for i in range(3):
            tell(f"step {i}")
        trial = create_trial(self.path)
        loss = trial.tensor("loss")
        self.assertEqual((trial.steps(), trial.loaded_all_steps), ([0, 1, 2], False))
        self.assertEqual(trial.has_passed_step(3), StepState.NOT_YET_AVAILABLE)
        self.assertRaises(StepNotYetAvailable, loss.value, 3)
        self.assertRaises(spotter.NotYet, loss.value, 3)
        tell("step 3")
        self.assertEqual(float(loss.value(3)), 1 / 4)  # it looks by itself
        with no_refresh(trial):
            tell("step 5")  # of train; the ordinal is 4
            self.assertEqual((trial.steps(), trial.has_passed_step(4)), ([0, 1, 2, 3], StepState.NOT_YET_AVAILABLE))
            with refresh([trial]):
                self.assertEqual(trial.steps(), [0, 1, 2, 3, 4])
            self.assertFalse(trial.dynamic_refresh)
        self.assertTrue(trial.dynamic_refresh)
        self.assertEqual(trial.steps(mode=modes.TRAIN), [0, 1, 2, 3, 5])
        self.assertEqual(trial.has_passed_step(4, modes.TRAIN), StepState.UNAVAILABLE)
        self.assertRaises(StepUnavailable, trial.wait_for_steps, [4], mode=modes.TRAIN)
        tell("open 6")
        self.assertRaises(StepNotYetAvailable, loss.value, 5)
        tell("close 6")
        self.assertEqual(float(loss.value(5)), 6)
        tell("finish")
        self.assertTrue(trial.loaded_all_steps)
        self.assertRaises(NoMoreData, trial.wait_for_steps, [6])

    def test_a_step_is_complete_once_each_worker_has_passed_it(self):
        first, second = self.live("0"), self.live("1")
        for i in range(4):
            first(f"step {i}")
        trial = create_trial(self.path)
        self.assertEqual(trial.num_workers, 2)
        self.assertEqual((trial.steps(), trial.steps(show_incomplete_steps=True)), ([], [0, 1, 2, 3]))  # one has not begun
        second("step 1")
        self.assertEqual((trial.steps(), trial.steps(show_incomplete_steps=True)), ([0, 1], [0, 1, 2, 3]))
        self.assertEqual(trial.tensor("loss").steps(), [0, 1])
        self.assertEqual((trial.has_passed_step(1), trial.has_passed_step(2)), (StepState.AVAILABLE, StepState.NOT_YET_AVAILABLE))
        self.assertEqual(trial.tensor("loss").workers(0), ["worker_0"])
        self.assertEqual(float(trial.tensor("loss").value(3)), 1 / 4)  # of whoever has it
        second("finish")
        self.assertEqual(trial.steps(), [0, 1, 2, 3])  # it will close none any more
        first("finish")
        self.assertTrue(trial.loaded_all_steps)

    def test_a_step_at_which_nothing_was_kept(self):
        tell = self.live()
        for command in ("step 0", "empty 1", "step 2", "finish"):
            tell(command)
        trial = create_trial(self.path)
        self.assertEqual((trial.steps(), trial.run.closed_steps()), ([0, 2], 3))
        self.assertEqual(trial.has_passed_step(1), StepState.UNAVAILABLE)
        self.assertRaises(StepUnavailable, trial.wait_for_steps, [0, 1, 2])
        self.assertRaises(StepUnavailable, trial.tensor("loss").value, 1)

    def test_steps_are_those_that_were_asked_for(self):
        subprocess.run([RECORD, "looked-at", self.path], check=True)
        trial = create_trial(self.path)
        looked = trial.steps(kept_for_rules=True)
        self.assertEqual(looked, list(range(55)))
        # Every tenth of train; the third of seven by what is there, a policy being the program's own; with values; never.
        expected = {"grad/w": [0, 10, 20, 30, 40], "hidden": [3, 10, 17, 24, 31, 38, 45], "spread": [3, 10, 17, 24, 31, 38, 45],
                    "w": [3, 7, 45, 46, 47, 48, 49], "seen": []}
        self.assertEqual(trial.tensor_names(), sorted(expected))
        for name, steps in expected.items():
            tensor = trial.tensor(name)
            self.assertEqual(tensor.steps(mode=modes.TRAIN), steps, name)
            self.assertEqual(tensor.steps(), [trial.global_step(modes.TRAIN, each) for each in steps], name)
            self.assertEqual(tensor.steps(mode=modes.TRAIN, kept_for_rules=True), list(range(50)), name)
            self.assertEqual(tensor.prev_steps(44, 2, mode=modes.TRAIN), [each for each in steps if each <= 44][-2:], name)
            self.assertEqual(list(tensor.shapes(mode=modes.TRAIN)), steps, name)
        self.assertEqual(list(trial.tensor("w").values(mode=modes.TRAIN)), expected["w"])
        self.assertEqual(trial.tensor("grad/w").steps(mode=modes.EVAL), [])
        self.assertEqual(len(trial.tensor("grad/w").steps(mode=modes.EVAL, kept_for_rules=True)), 5)
        self.assertEqual(trial.steps(mode=modes.TRAIN), sorted(set().union(*expected.values())))
        self.assertEqual((trial.steps(mode=modes.EVAL), trial.modes()), ([], [modes.TRAIN, modes.EVAL]))
        # What is there can be read all the same.
        self.assertEqual(trial.has_passed_step(1), StepState.AVAILABLE)
        self.assertEqual(float(trial.tensor("seen").reduction_value(1, "mean", abs=True)), 0.5)
        self.assertEqual(trial.tensor("seen").shape(1), (40,))

    def test_each_step_has_the_plan_that_held_there(self):
        subprocess.run([RECORD, "exchanged", self.path], check=True)
        trial = create_trial(self.path)
        control = trial.run["control"]
        asked = [(step.index, str(control.value(step))) for step in control.steps()]
        self.assertEqual([text.partition(") ")[2].partition(",")[0] for _, text in asked], ["plan", "pause", "resume", "pause"])
        plan, pause, resume, again = (index for index, _ in asked)
        tensor = trial.tensor("x")
        steps = tensor.steps(mode=modes.TRAIN, kept_for_rules=True)
        self.assertEqual(steps, list(range(len(steps))))
        resumed = len(steps) - 30  # the second attempt
        expected = [i for i in steps if (i % 10 == 0 if i <= plan or i >= resumed else
                                         i % 3 == 0 and not pause < i <= resume and i <= again)]
        self.assertEqual(tensor.steps(mode=modes.TRAIN), expected)
        self.assertEqual([i for i in trial.steps(mode=modes.TRAIN) if i not in (plan, pause, resume, again)],
                         [i for i in expected if i not in (plan, pause, resume, again)])

    def test_a_step_that_comes_is_asked_for_or_not(self):
        tell = self.live()
        tell("step 0")
        trial = create_trial(self.path)
        self.assertEqual(trial.steps(), [0])
        for command in ("step 1", "empty 2", "step 3"):
            tell(command)
        self.assertEqual(trial.steps(), [0, 1, 3])  # a trial looks for news

    def test_waits_for_a_step_that_comes(self):
        tell = self.live()
        tell("step 0")
        trial = create_trial(self.path)
        later = threading.Timer(0.3, tell, ("step 1",))
        begin = time.monotonic()
        later.start()
        with no_refresh(trial):  # waiting looks in any case, as in smdebug
            trial.wait_for_steps([0, 1])
        self.assertGreater(time.monotonic() - begin, 0.2)
        self.assertLess(time.monotonic() - begin, 5)
        later.join()
        self.assertEqual(float(trial.tensor("loss").value(1)), 0.5)

    def test_waiting_ends_with_a_killed_writer(self):
        tell = self.live()
        tell("step 0")
        trial = create_trial(self.path)
        threading.Timer(0.2, tell, ("kill",)).start()
        self.assertRaises(NoMoreData, trial.wait_for_steps, [1])


if __name__ == "__main__":
    unittest.main()
