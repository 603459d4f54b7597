#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules in Python, as files for smdebug have them (rules/), over golden runs and over trainings that are recorded now: they fire where they
should, and nowhere else.

Environment: SPOTTER_RECORD (the program of record.cpp); what needs it is skipped without. It ends with 2 where NumPy or zstandard is missing.
"""

import contextlib
import http.server
import importlib
import io
import json
import os
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from shared import SOURCE

import spotter
from spotter import command_line, create_trial, modes
from spotter.exceptions import StepUnavailable, TensorUnavailable, TensorUnavailableForStep
from spotter.rules import Actions, Email, RequiredTensors, Rule, RuleEvaluationConditionMet, RunCommand, StopTraining, Webhook, invoke_rule

FILES = SOURCE / "tests" / "python" / "rules"
GOLDEN = SOURCE / "tests" / "golden" / "runs"
RECORD = os.environ.get("SPOTTER_RECORD")


def rule_of(file, name):
    """From the file with `spotter` for `smdebug` in its import lines."""
    text = (FILES / file).read_text(encoding="utf-8")
    text = text.replace("from smdebug.core.collection import", "from spotter import").replace("from smdebug", "from spotter")
    there = {"__name__": name}
    exec(compile(text, file, "exec"), there)
    return there[name]


class Above(Rule):
    """Met where a loss is above a number."""

    def __init__(self, base_trial, least=5.0, action_str=None, other_trials=None):
        super().__init__(base_trial, action_str, other_trials)
        self.least, self.judged = least, []

    def invoke_at_step(self, step):
        self.judged.append(step)
        return float(self.base_trial.tensor("loss").value(step)) > self.least


class OverGoldenRuns(unittest.TestCase):
    def setUp(self):
        self.trial = create_trial(GOLDEN / "1-training")

    def high(self):
        """Where the loss is above 5, by the reader's own words."""
        return [step for step, value in self.trial.tensor("loss").values().items() if value > 5]

    def test_fires_where_it_should_and_returns_at_the_end(self):
        self.assertTrue(self.high())
        rule = Above(self.trial)
        self.assertEqual(invoke_rule(rule), self.high())
        self.assertEqual(rule.judged, self.trial.steps(kept_for_rules=True))
        self.assertEqual(invoke_rule(Above(self.trial, 1e9)), [])

    def test_from_and_to_a_step(self):
        rule = Above(self.trial)
        invoke_rule(rule, start_step=4, end_step=9)
        self.assertEqual(rule.judged, [4, 5, 6, 7, 8])

    def test_an_exception_at_the_first(self):
        with self.assertRaises(RuleEvaluationConditionMet) as caught:
            invoke_rule(Above(self.trial), raise_eval_cond=True)
        self.assertEqual((caught.exception.rule_name, caught.exception.step), ("Above", self.high()[0]))

    def test_a_rule_may_end_itself_and_its_mistakes_are_seen(self):
        class Once(Above):
            def invoke_at_step(self, step):
                self.judged.append(step)
                if step == 3:
                    raise RuleEvaluationConditionMet(self.rule_name, step, end_of_rule=True)

        class Wrong(Above):
            def invoke_at_step(self, step):
                return 1 / 0

        rule = Once(self.trial)
        self.assertEqual((invoke_rule(rule), rule.judged), ([3], [0, 1, 2, 3]))
        self.assertRaises(ZeroDivisionError, invoke_rule, Wrong(self.trial))
        self.assertRaises(TypeError, Rule, self.trial)  # without invoke_at_step it is none

    def test_required_tensors(self):
        needed = RequiredTensors(self.trial)
        needed.add("loss", steps=[1, 2])
        needed.add("loss", steps=[3])
        needed.add("^.*fc", steps=[0], should_match_regex=True)
        self.assertEqual(sorted(needed.get_names()), ["act/fc", "fc/w", "grad/fc", "loss"])
        self.assertEqual(needed.get_tensor_steps("loss"), [1, 2, 3])
        self.assertEqual(sorted(each.name for each in needed.get()), sorted(needed.get_names()))
        needed.fetch()
        self.assertRaises(TensorUnavailable, needed.add, "nope", steps=[1])
        needed.add("nope", steps=[1], should_match_regex=True)
        needed.clear()
        self.assertEqual(needed.get_names(), [])
        evaluation = self.trial.global_step(modes.EVAL, 0)
        missing = next(name for name in self.trial.tensor_names() if name not in self.trial.tensor_names(step=evaluation))
        needed.add(missing, steps=[evaluation])
        self.assertRaises(TensorUnavailableForStep, needed.fetch)

    def test_steps_that_lack_what_is_required_are_not_judged(self):
        class Picky(Above):
            def set_required_tensors(self, step):
                self.req_tensors.add("metric/accuracy", steps=[step])

        rule = Picky(self.trial)
        invoke_rule(rule)
        self.assertEqual(rule.judged, self.trial.tensor("metric/accuracy").steps(kept_for_rules=True))

    def test_other_trials(self):
        other = create_trial(GOLDEN / "1-packed")

        class Both(Above):
            def set_required_tensors(self, step):
                self.req_tensors.add("loss", steps=[step])
                self.req_tensors.add("loss", steps=[0], trial=other)

            def invoke_at_step(self, step):
                self.judged.append(step)
                assert self.req_tensors.get_names(trial=other) == ["loss"] and not other.dynamic_refresh
                return False

        rule = Both(self.trial, other_trials=[other])
        self.assertEqual((invoke_rule(rule), len(rule.judged)), ([], 30))
        self.assertTrue(other.dynamic_refresh)

    def test_files_of_smdebug_over_them(self):
        """Steps where gradients are below a mean of a tenth, reported by a file for smdebug, and in spotter's own words."""
        run = spotter.open_trial(GOLDEN / "1-training")
        small = sorted(run.ordinal(step) for step in run["grad/fc"].steps() if run["grad/fc"].stat(step, "mean_abs") < 0.1)
        rule = rule_of("vanishing_gradient.py", "VanishingGradient")
        self.assertEqual(invoke_rule(rule(create_trial(GOLDEN / "1-training"), "0.1")), small)
        self.assertEqual(invoke_rule(rule(create_trial(GOLDEN / "1-training"))), [])
        self.assertEqual(invoke_rule(rule_of("dead_relu.py", "DeadRelu")(create_trial(GOLDEN / "1-training"))), [])


@unittest.skipUnless(RECORD, "SPOTTER_RECORD does not name the program of record.cpp")
class OverRecordedTrainings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        for fault in ("healthy", "vanishing", "stuck", "dead"):
            subprocess.run([RECORD, "training", f"{cls.place.name}/{fault}", fault], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def met(self, file, name, fault, **parameters):
        return invoke_rule(rule_of(file, name)(create_trial(f"{self.place.name}/{fault}"), **parameters))

    def test_vanishing_gradient(self):
        self.assertEqual(self.met("vanishing_gradient.py", "VanishingGradient", "healthy"), [])
        trial = create_trial(f"{self.place.name}/vanishing")
        met = self.met("vanishing_gradient.py", "VanishingGradient", "vanishing")
        self.assertEqual([trial.mode_step(each) for each in met], list(range(200)))  # at each step of train, none of eval
        self.assertEqual(self.met("vanishing_gradient.py", "VanishingGradient", "vanishing", threshold="1e-20"), [])

    def test_loss_not_decreasing(self):
        file, name = "loss_not_decreasing.py", "LossNotDecreasing"
        self.assertEqual([each for each in self.met(file, name, "healthy") if each < 70], [])  # while there is something to learn
        stuck = self.met(file, name, "stuck")
        self.assertGreater(len(stuck), 60)
        trial = create_trial(f"{self.place.name}/stuck")
        self.assertTrue(all(trial.mode(each) == modes.TRAIN for each in stuck))
        self.assertGreaterEqual(trial.mode_step(stuck[0]), 39)
        self.assertEqual(self.met(file, name, "stuck", collection_names="gradients,weights", num_steps="200"), [])

    def test_dead_relu(self):
        self.assertEqual(self.met("dead_relu.py", "DeadRelu", "healthy"), [])
        trial = create_trial(f"{self.place.name}/dead")
        dead = self.met("dead_relu.py", "DeadRelu", "dead")
        self.assertEqual([trial.mode_step(each) for each in dead], list(range(0, 200, 5)))  # where values were kept
        self.assertEqual(self.met("dead_relu.py", "DeadRelu", "dead", tensor_regex="tanh"), [])

    def spotter_py(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = command_line.main([str(each) for each in arguments])
        return code, out.getvalue(), err.getvalue()

    def test_the_files_as_they_are_from_the_command_line(self):
        dead = f"{self.place.name}/dead"
        code, said, _ = self.spotter_py("rules", dead, FILES / "dead_relu.py")
        self.assertEqual((code, len(said.splitlines()), said.splitlines()[1]), (1, 40, "DeadRelu\t5\ttrain\t5"))
        code, said, _ = self.spotter_py("rules", dead, FILES / "dead_relu.py", "--set", "tensor_regex=tanh", "--rule", "DeadRelu")
        self.assertEqual((code, said), (0, ""))
        code, said, _ = self.spotter_py("rules", dead, FILES / "dead_relu.py", "--start", "100", "--end", "120")
        self.assertEqual(code, 1)
        self.assertTrue(all(100 <= int(line.split("\t")[1]) < 120 for line in said.splitlines()))
        for wrong in (("--rule", "Nope"), ("--set", "nothing"), ("--set", "nope=1")):
            self.assertEqual(self.spotter_py("rules", dead, FILES / "dead_relu.py", *wrong)[0], 2)
        code, said, reported = self.spotter_py("rules", dead, FILES / "dead_relu.py", "--end", "3", "--actions",
                                           '{"name": "command", "command": "exit 7"}')
        self.assertEqual((code, len(said.splitlines())), (4, 1))
        self.assertIn("exit status 7", reported)

    def test_install_as_smdebug(self):
        spotter.install_as_smdebug()
        spotter.install_as_smdebug()  # again is no mistake
        sys.path.insert(0, str(FILES))
        try:
            for file, name in (("vanishing_gradient", "VanishingGradient"), ("loss_not_decreasing", "LossNotDecreasing"),
                               ("dead_relu", "DeadRelu")):
                self.assertTrue(issubclass(getattr(importlib.import_module(file), name), Rule))
        finally:
            sys.path.remove(str(FILES))
        said = subprocess.run([sys.executable, "-c", "import smdebug"], capture_output=True, text=True)
        self.assertIn("No module named 'smdebug'", said.stderr)  # there is none but ours
        from smdebug import CollectionKeys
        from smdebug.analysis.utils import no_refresh
        from smdebug.core.logger import get_logger
        from smdebug.core.modes import ModeKeys
        from smdebug.core.tensor import StepState
        from smdebug.rules.action import Actions as TheirActions
        from smdebug.rules.rule_invoker import invoke_rule as theirs
        from smdebug.trials import create_trial as create
        import smdebug.pytorch as smd
        self.assertEqual((smd.modes.TRAIN, hasattr(smd, "Hook")), (modes.TRAIN, False))  # what records is C++
        self.assertEqual((CollectionKeys.LOSSES, ModeKeys, theirs, create, TheirActions), ("losses", modes, invoke_rule, create_trial, Actions))
        self.assertEqual((StepState.AVAILABLE.name, get_logger().name, no_refresh.__module__), ("AVAILABLE", "spotter", "spotter.analysis.utils"))

    def test_takes_the_place_of_no_smdebug(self):
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "smdebug.py").write_text("")
            said = subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = [{place!r}, {str(SOURCE / 'tools/python')!r}]\n"
                                   "import smdebug, spotter; spotter.install_as_smdebug()"], capture_output=True, text=True)
        self.assertIn("BadConfig: smdebug itself is imported already", said.stderr)


class WhatIsDone(unittest.TestCase):
    def setUp(self):
        self.trial = create_trial(os.path.relpath(GOLDEN / "1-training"))  # actions have the whole path
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name)

    def test_all_run_whatever_becomes_of_the_others(self):
        text = json.dumps([{"name": "command", "command": "exit 3"}, {"name": "Command", "command": f"cat >> {self.place}/reported"}])
        rule = Above(self.trial, action_str=text)
        met = invoke_rule(rule)
        lines = [json.loads(line) for line in (self.place / "reported").read_text().splitlines()]
        self.assertEqual([line["ordinal"] for line in lines], met)
        self.assertEqual([(line["rule"], line["run"], line["mode"]) for line in lines[:1]],
                         [("Above", str(GOLDEN / "1-training"), self.trial.mode(met[0]).mode)])
        self.assertEqual(len(rule._actions.failures), len(met))
        self.assertIn("RunCommand", rule._actions.failures[0])
        self.assertEqual(Above(self.trial, action_str=[RunCommand("true")])._actions.failures, [])

    def test_malformed_ones_are_refused(self):
        for wrong in ("{", '{"name": "nope"}', '{"name": "sms", "endpoint": "1"}', '{"name": "command"}', "[3]", '{"name": "webhook", "url": "x"}',
                      '{"name": "email"}', '{"name": "command", "command": "true", "more": 1}'):
            self.assertRaises(spotter.BadConfig, Above, self.trial, action_str=wrong)
        for right in (None, "", " ", "[]", '{"name": "StopTraining", "training_job_prefix": "job"}', '{"name": "Email", "endpoint": "a@b"}',
                      [StopTraining(), Email("a@b")], StopTraining()):
            Above(self.trial, action_str=right)

    def test_a_webhook(self):
        got = []

        class Hook(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                got.append((self.headers["Content-Type"], json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        with socketserver.TCPServer(("127.0.0.1", 0), Hook) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            rule = Above(self.trial, action_str=Webhook(f"http://127.0.0.1:{server.server_address[1]}/x"))
            met = invoke_rule(rule)
            server.shutdown()
        self.assertEqual(rule._actions.failures, [])
        self.assertEqual([(kind, said["ordinal"]) for kind, said in got], [("application/json", each) for each in met])

    def test_a_mail(self):
        got = []

        class Mail(socketserver.StreamRequestHandler):
            def handle(self):
                self.wfile.write(b"220 here\r\n")
                text = False
                for line in self.rfile:
                    got.append(line.decode().rstrip())
                    if text and line == b".\r\n":
                        text = False
                    if not text:
                        text = line.upper() == b"DATA\r\n"
                        self.wfile.write(b"354 go on\r\n" if text else b"221 bye\r\n" if line.upper() == b"QUIT\r\n" else b"250 ok\r\n")

        with socketserver.TCPServer(("127.0.0.1", 0), Mail) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            rule = Above(self.trial, action_str=Email("me@example.org", f"127.0.0.1:{server.server_address[1]}"))
            first = invoke_rule(rule, end_step=self.high_step() + 1)
            server.shutdown()
        self.assertEqual((rule._actions.failures, len(first)), ([], 1))
        self.assertIn("Subject: Above fired", got)
        self.assertIn("rcpt to:<me@example.org>", [line.lower() for line in got])
        self.assertTrue(any(line.startswith("Above at train(") for line in got), got)

    def high_step(self):
        return next(step for step, value in self.trial.tensor("loss").values().items() if value > 5)

    def test_stopping_a_run_that_is_over_does_nothing(self):
        shutil.copytree(GOLDEN / "1-training", self.place / "run")
        rule = Above(create_trial(self.place / "run"), action_str='{"name": "stoptraining"}')
        self.assertTrue(invoke_rule(rule))
        self.assertEqual((rule._actions.failures, (self.place / "run" / "stop").exists()), ([], False))

    @unittest.skipUnless(RECORD, "SPOTTER_RECORD does not name the program of record.cpp")
    def test_a_loop_in_cpp_obeys(self):
        path = self.place / "run"
        program = subprocess.Popen([RECORD, "live", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        said = []

        def tell(command):
            program.stdin.write(command + "\n")
            program.stdin.flush()
            said.append(program.stdout.readline().strip())

        with program.stdin, program.stdout:
            tell("step 0")
            tell("step 1")
            rule = Above(create_trial(path), least=0.7, action_str='{"name": "StopTraining", "training_job_prefix": "any"}')
            self.assertEqual(invoke_rule(rule, end_step=1), [0])
            self.assertEqual((rule._actions.failures, said), ([], ["done", "done"]))
            self.assertIn("Above at train(0) of", (path / "stop").read_text())
            for i in range(2, 200):
                tell(f"step {i}")
                if said[-1] == "stop":
                    break
                threading.Event().wait(0.02)
            tell("finish")
        self.assertEqual((said[-1], program.wait()), ("stop", 0))
        finding = spotter.open_trial(path).findings()[0]
        self.assertEqual(finding.decision, "stop")
        self.assertIn("Above", finding.reason + finding.detail)

    @unittest.skipUnless(RECORD, "SPOTTER_RECORD does not name the program of record.cpp")
    def test_a_rule_beside_a_run_that_goes_on(self):
        """It waits for steps, sees each whole, sees nothing new while it judges one, and ends with the run."""
        path = self.place / "run"
        program = subprocess.Popen([RECORD, "live", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def write():
            for i in list(range(1, 20)) + [25, 26]:
                program.stdin.write(f"step {i}\n")
                program.stdin.flush()
                program.stdout.readline()
            program.stdin.write("finish\n")
            program.stdin.flush()
            program.stdout.readline()

        class Still(Above):
            def invoke_at_step(self, step):
                before = self.base_trial.steps()
                threading.Event().wait(0.01)
                assert self.base_trial.steps() == before and before[-1] >= step
                return super().invoke_at_step(step)

        with program.stdin, program.stdout:
            program.stdin.write("step 0\n")
            program.stdin.flush()
            program.stdout.readline()
            rule = Still(create_trial(path), least=0.3)
            writer = threading.Thread(target=write)
            writer.start()
            met = invoke_rule(rule)
            writer.join()
        program.wait()
        self.assertEqual((met, rule.judged), ([0, 1, 2], list(range(22))))
        self.assertRaises(StepUnavailable, rule.base_trial.wait_for_steps, [22], mode=modes.TRAIN)


if __name__ == "__main__":
    unittest.main()
