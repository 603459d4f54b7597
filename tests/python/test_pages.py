#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/python.md and docs/from_smdebug.md, block by block, over a run that is recorded now; and what the second says is there, is there.

Environment: SPOTTER_RECORD (the program of record.cpp); what needs it is skipped without. It ends with 2 where NumPy or zstandard is missing.
"""

import ast
import contextlib
import importlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from shared import SOURCE

import spotter
from spotter import command_line, rules, trials

RECORD = os.environ.get("SPOTTER_RECORD")


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", (SOURCE / "docs" / page).read_text(encoding="utf-8"), re.DOTALL)


def run_as_cells(block, names):
    """As a notebook does: what the last line is, if it is a value, is shown."""
    tree = ast.parse(block)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "block", "exec"), names)
    return eval(compile(ast.Expression(last.value), "block", "eval"), names) if last else None


@unittest.skipUnless(RECORD, "SPOTTER_RECORD does not name the program of record.cpp")
class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        record = os.path.abspath(RECORD)
        os.chdir(folder.name)
        os.mkdir("runs")
        subprocess.run([record, "training", "runs/a"], check=True)

    def test_python(self):
        names, shown = {}, []
        with contextlib.redirect_stdout(io.StringIO()) as out:
            for block in blocks("python.md", "python"):
                shown.append(run_as_cells(block, names))
        self.assertEqual((len(names["steps"]), names["w"].shape), (200, (2, 16)))
        self.assertEqual([type(each).__name__ for each in shown if each is not None], ["Track"])
        self.assertIn("<svg", names["run"]._repr_html_())
        self.assertEqual(len(out.getvalue().splitlines()), 2)
        self.assertEqual((len(names["losses"]), names["met"]), (20, []))

    def test_the_command(self):
        lines = [line for block in blocks("python.md", "sh") for line in block.splitlines() if line.startswith("spotter-py")]
        shutil.copy(SOURCE / "tests" / "python" / "rules" / "vanishing_gradient.py", "my_rules.py")
        for line in lines:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                code = command_line.main(shlex.split(line, comments=True)[1:])
            self.assertEqual((code, bool(out.getvalue())), (0, " findings " not in line and " rules " not in line), line)
        self.assertEqual(len(lines), 6)

    def test_from_smdebug(self):
        said = subprocess.run([sys.executable, "-c", "\n".join(blocks("from_smdebug.md", "python"))], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(SOURCE / "tools" / "python")})
        weights = spotter.open_trial("runs/a")["fc1/w"]
        kept = [f"{step.index} {str(weights.value(step).mean())}" for step in weights.payload_steps("train")]
        self.assertGreater(len(kept), 1)
        self.assertEqual((said.stderr, said.stdout.splitlines()), ("", [f"{list(range(20))} True", *kept]))


class WhatIsThere(unittest.TestCase):
    PAGE = (SOURCE / "docs" / "from_smdebug.md").read_text(encoding="utf-8")

    def test_modules(self):
        spotter.install_as_smdebug()
        said = re.search(r"There are `smdebug`, (.*?): there is no", self.PAGE, re.DOTALL).group(1)
        modules = [each for each in re.findall(r"`(\.[a-z_.]+)`", said)]
        self.assertGreater(len(modules), 12)
        for each in modules:
            inner = each in (".rule", ".rule_invoker", ".req_tensors", ".action")
            importlib.import_module(f"smdebug{'.rules' if inner else ''}{each}")

    def test_calls(self):
        """Those of trials and tensors in the first column, where the second says that it is the same."""
        found = 0
        for row in re.findall(r"^\|(.*?)\|(.*?)\|", self.PAGE, re.MULTILINE):
            owner = re.match(r" `(trial|tensor)\.", row[0])
            if not owner or not row[1].strip().startswith("the same"):
                continue
            where = trials.create_trial(SOURCE / "tests" / "golden" / "runs" / "1-training")
            where = where if owner[1] == "trial" else where.tensor("loss")
            for call in re.findall(r"`(?:trial\.|tensor\.)?(\w+)", row[0]):
                self.assertTrue(hasattr(where, call), call)
                found += 1
        self.assertGreater(found, 20)

    def test_built_in_rules(self):
        catalogue = re.findall(r"^### (\w+)", (SOURCE / "docs" / "rules.md").read_text(encoding="utf-8"), re.MULTILINE)
        table = self.PAGE[self.PAGE.index("| `rule_configs` | rule"):]
        for name in re.findall(r"`([a-z_]+)`", table[:table.index("## The profiler")].replace("create_xgboost_report", "")):
            if name not in ("rule_configs", "stalled_training_rule"):
                self.assertIn(name, catalogue)
        machine = next(line for line in self.PAGE.splitlines() if line.startswith("| `rule_configs.CPUBottleneck`"))
        for name in re.findall(r"`([a-z_]+)`", machine.split("|")[2]):
            self.assertIn(name, catalogue)

    def test_what_rules_exports(self):
        for name in rules.__all__:
            self.assertTrue(hasattr(rules, name))

    def test_links(self):
        for page in ("from_smdebug.md", "python.md"):
            text = (SOURCE / "docs" / page).read_text(encoding="utf-8")
            for target, anchor in re.findall(r"\]\(([\w./]+)(#[\w-]+)?\)", text):
                linked = SOURCE / "docs" / target
                self.assertTrue(linked.exists(), target)
                if anchor:
                    heads = [re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-")
                             for head in re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)]
                    self.assertIn(anchor[1:], heads, target)


if __name__ == "__main__":
    unittest.main()
