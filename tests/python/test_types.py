#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package spotter as mypy sees it, by the rules of Python 3.9, the oldest that it is for, and of 3.13, and what of it
those see who use it. mypy is that of the Python which runs this. It ends with 2 where there is none, or no NumPy or
zstandard beside it, for it reads their types."""

import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2] / "tools" / "python"
MISSING = [each for each in ("mypy", "numpy", "zstandard") if importlib.util.find_spec(each) is None]
if MISSING:
    print("SPOTTER_SKIP: missing:", ", ".join(MISSING))
    sys.exit(2)

# What somebody may write, and how mypy answers that line; None: not at all.
USES = (
    ("from spotter import create_trial, modes, open_trial", None),
    ("run = open_trial('runs/a')", None),
    ("reveal_type(run.steps()[0].index)", 'Revealed type is "int"'),
    ("reveal_type(run.steps()[0].mode)", 'Revealed type is "str"'),
    ("length: int = run.path", "Incompatible types in assignment"),
    ("run.names(patern='grad/*')", 'Unexpected keyword argument "patern"'),
    ("for finding in run.findings(): print(finding.rule, finding.step.index + 1)", None),
    ("run['loss'].summarise(3)", '"Track" has no attribute "summarise"'),
    ("trial = create_trial('runs/a', range_steps=(10, None))", None),
    ("reveal_type(trial.tensor('loss').steps(mode=modes.EVAL))", 'Revealed type is "list[int]"'),
    ("trial.tensor('loss').value('10')", 'Argument 1 to "value" of "Tensor" has incompatible type "str"; expected "int"'),
)

PLACE = tempfile.TemporaryDirectory()


def mypy(*words):
    """Its exit code and lines, with the settings that it has by itself."""
    asked = subprocess.run([sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={PLACE.name}/cache", *words], cwd=PACKAGES,
                           capture_output=True, text=True)
    return asked.returncode, (asked.stdout + asked.stderr).replace("builtins.", "").strip().splitlines()


class Types(unittest.TestCase):
    def test_of_the_package(self):
        for minor in (9, 13):
            with self.subTest(python=f"3.{minor}"):
                code, said = mypy(f"--python-version=3.{minor}", "spotter")
                if code == 2 and "is not supported" in said[-1]:
                    self.skipTest(said[-1])
                self.assertEqual(code, 0, "\n".join(said))
                self.assertRegex(said[-1], r"no issues found in (2[5-9]|[3-9]\d|\d{3}) source files")

    def test_on_windows(self):
        self.assertEqual(mypy("--python-version=3.13", "--platform=win32", "spotter")[0], 0)

    def test_nothing_is_left_out(self):
        """No file and no line is exempt as a whole."""
        for path in (PACKAGES / "spotter").rglob("*.py"):
            for line in path.read_text(encoding="utf-8").splitlines():
                self.assertNotRegex(line, r"#\s*type:\s*ignore(?!\[)|#\s*mypy:", path)

    def test_of_who_uses_it(self):
        use = Path(PLACE.name) / "use.py"
        use.write_text("\n".join(line for line, _ in USES) + "\n", encoding="utf-8")
        _, said = mypy(str(use))
        for number, (line, answer) in enumerate(USES, 1):
            found = [each for each in said if f"use.py:{number}:" in each]
            if answer is None:
                self.assertEqual(found, [], line)
            else:
                self.assertIn(answer, "\n".join(found), line)


if __name__ == "__main__":
    unittest.main()
