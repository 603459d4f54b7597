#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel from the repository's root, installs it into an environment of its own, and uses it from there: as a module, as a
command, by a rule file, as something that is typed. It ends with 2 where pip, venv or what they fetch is missing."""

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PACKAGE = SOURCE / "tools" / "python" / "spotter"
GOLDEN = SOURCE / "tests" / "golden" / "runs"

PLACE = tempfile.TemporaryDirectory()
ENVIRONMENT = Path(PLACE.name) / "environment"
PYTHON = ENVIRONMENT / "bin" / "python"
CLEAN = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(*words, **more):
    return subprocess.run([str(each) for each in words], capture_output=True, text=True, cwd=PLACE.name, env=CLEAN, **more)


def left_behind():
    """What git does not know in the tree: building a wheel must add nothing."""
    return subprocess.run(["git", "-C", str(SOURCE), "status", "--porcelain"], capture_output=True, text=True).stdout


# Before the package is built it is asked whether pip can fetch at all: what fails after that is a failure.
if run(sys.executable, "-m", "venv", ENVIRONMENT).returncode != 0:
    print("SPOTTER_SKIP: python3-venv is missing", file=sys.stderr)
    sys.exit(2)
fetched = run(PYTHON, "-m", "pip", "install", "-q", "numpy", "zstandard", "hatchling")
if fetched.returncode != 0:
    print(f"SPOTTER_SKIP: pip cannot fetch: {fetched.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    sys.exit(2)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        before = left_behind()
        cls.built = run(PYTHON, "-m", "pip", "wheel", "-q", "--no-deps", "-w", PLACE.name, SOURCE)
        cls.wheels = list(Path(PLACE.name).glob("*.whl"))
        cls.added = left_behind() != before
        cls.installed = run(PYTHON, "-m", "pip", "install", "-q", "--no-deps", *cls.wheels)

    def test_is_of_pure_python_and_whole(self):
        self.assertEqual((self.built.returncode, len(self.wheels)), (0, 1), self.built.stderr)
        self.assertRegex(self.wheels[0].name, r"^spotter-\d+\.\d+\.\d+-py3-none-any\.whl$")
        with zipfile.ZipFile(self.wheels[0]) as wheel:
            packed = {name for name in wheel.namelist() if name.startswith("spotter/")}
            said = wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode()
        self.assertEqual(packed, {f"spotter/{each.relative_to(PACKAGE)}" for each in PACKAGE.rglob("*")
                                  if each.is_file() and "__pycache__" not in each.parts})
        self.assertIn("spotter/py.typed", packed)
        for line in ("Requires-Python: >=3.9", "Requires-Dist: numpy", "Requires-Dist: zstandard", "Provides-Extra: s3", "boto3"):
            self.assertIn(line, said)
        self.assertFalse(self.added)

    def test_reads_from_where_it_is_installed(self):
        self.assertEqual(self.installed.returncode, 0, self.installed.stderr)
        said = run(PYTHON, "-c", "import spotter; from spotter import create_trial, modes; from spotter.rules import Rule, invoke_rule\n"
                   f"t = create_trial({str(GOLDEN / '1-training')!r})\n"
                   "print(spotter.__file__, len(t.steps()), len(t.steps(mode=modes.EVAL)), t.tensor('fc/w').value(0).shape)")
        self.assertEqual(said.stderr, "")
        file, *rest = said.stdout.split(maxsplit=1)
        self.assertTrue(file.startswith(str(ENVIRONMENT.resolve())) or file.startswith(str(ENVIRONMENT)), file)
        self.assertEqual(rest, ["30 6 (2, 3)\n"])

    def test_has_a_command(self):
        command = ENVIRONMENT / "bin" / "spotter-py"
        self.assertEqual(run(command, "list", GOLDEN).stdout.count("\n"), len(list(GOLDEN.iterdir())))
        self.assertEqual(run(command, "names", GOLDEN / "1-training", "fc/*").stdout, "fc/w\tweight\tf32\t[2, 3]\t30\t8\n")
        self.assertEqual(run(command, "curve", GOLDEN / "1-training", "loss", "--mode", "eval").stdout.count("eval\t"), 6)
        value = run(command, "value", GOLDEN / "1-training", "fc/w", "0")
        self.assertEqual((value.returncode, value.stdout.splitlines()[0]), (0, "f32 [2, 3]"))
        findings = run(command, "findings", GOLDEN / "1-training")
        self.assertEqual((findings.returncode, findings.stdout.count("\n")), (1, 2))
        rule = run(command, "rules", GOLDEN / "1-training", SOURCE / "tests" / "python" / "rules" / "vanishing_gradient.py")
        self.assertEqual((rule.returncode, rule.stdout, rule.stderr), (0, "", ""))
        missing = run(command, "value", GOLDEN / "1-training", "nope", "0")
        self.assertEqual((missing.returncode, missing.stdout), (3, ""))
        self.assertIn("never observed", missing.stderr)
        self.assertEqual(run(command, "list", PLACE.name + "/none").returncode, 3)
        self.assertEqual(run(command, "curve").returncode, 2)
        self.assertEqual(run(PYTHON, "-m", "spotter", "--version").stdout, run(command, "--version").stdout)


if __name__ == "__main__":
    unittest.main()
