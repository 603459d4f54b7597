# SPDX-License-Identifier: Apache-2.0
"""`spotter-py`: looks into records where the command line of C++ is not at hand."""

from __future__ import annotations

import argparse
import inspect
import os
import runpy
import shlex
import sys
from pathlib import Path
from typing import List, Optional, Tuple

import numpy as np

from ._version import __version__
from .as_smdebug import install_as_smdebug
from .errors import BadConfig, Corrupt, IoError, NoPayload, SpotterError, did_you_mean
from .model import MODES, Step, step_of
from .reader.statistics import STATISTICS
from .run import open_trial
from .track import Track
from .trials import create_trial

_CODES = {BadConfig: 2, IoError: 4, Corrupt: 5}  # as the command line of C++ has them; 3 for what is not there


def _list(folders: List[str]) -> int:
    """A run a line: folder, status, steps closed, names, findings."""
    found = 0
    for folder in folders:
        if folder.startswith("s3://"):
            paths = [folder]
        else:
            below = sorted({each.parent for each in Path(folder).rglob("*.spot")})
            paths = sorted({str(each.parent if each.name.startswith("worker-") else each) for each in below})
        found += len(paths)
        for path in paths:
            try:
                run = open_trial(path)
                print(path, run.status(), run.closed_steps(), len(run.names()), len(run.findings()), sep="\t")
            except SpotterError as why:  # the others are listed all the same
                print(f"spotter-py: {path}: {why}", file=sys.stderr)
    if not found:
        print(f"spotter-py: no run in {', '.join(folders)}", file=sys.stderr)
    return 0 if found else 3


def _names(run: str, pattern: Optional[str]) -> int:
    """A tensor a line: name, role, type, shape, steps at which anything was kept, and values."""
    trial = open_trial(run)
    for name in trial.names(pattern):
        track = trial[name]
        print(name, track.info.role, track.info.dtype, list(track.info.shape), len(track.steps()), len(track.payload_steps()), sep="\t")
    return 0


def _curve(run: str, name: str, stat: str, mode: Optional[str]) -> int:
    """A point a line: mode, step, value."""
    track = open_trial(run)[name]
    unreadable: List[Step] = []
    for each in MODES if mode is None else (mode,):
        for step, value in zip(*track.history(stat, each)):
            print(each, step, repr(float(value)), sep="\t")
            if np.isnan(value) and _is_unreadable(track, Step(each, int(step)), stat):
                unreadable.append(Step(each, int(step)))
    if unreadable:
        print(f"spotter-py: {len(unreadable)} points of {name} cannot be read, first {unreadable[0]}", file=sys.stderr)
    return _CODES[Corrupt] if unreadable else 0


def _is_unreadable(track: Track, step: Step, stat: str) -> bool:
    try:
        track.stat(step, stat)
    except Corrupt:
        return True
    except SpotterError:
        pass
    return False


def _value(run: str, name: str, step: str, worker: Optional[int], everything: bool) -> int:
    """Type and shape, then the values."""
    track = open_trial(run)[name]
    track = track if worker is None else track.of(worker)
    try:
        value = track.value(step)
    except NoPayload as why:
        raise NoPayload(_instead(run, track, step_of(step), why.kept)) from why
    if isinstance(value, str):
        print(value)
        return 0
    print(track.info.dtype, list(np.shape(value)))
    with np.printoptions(threshold=sys.maxsize if everything else 1000):
        print(value)
    return 0


def _instead(run: str, track: Track, step: Step, kept: Tuple[str, ...]) -> str:
    """What to ask where there are no values: a curve of what was kept, or the nearest steps that have some."""
    steps = sorted(track.payload_steps(step.mode), key=lambda each: abs(each.index - step.index))
    if steps:
        near = ", ".join(map(str, sorted(steps[:4])))
        where = f"Values of {len(steps)} of its steps of {step.mode} were kept, the nearest at {near}."
    else:
        where = f"No values of it were kept in {step.mode}: a collection of the plan keeps them where it asks for `payload`."
    curves = [each for each in kept if each in STATISTICS]
    if not curves:
        return f"no values were kept at {step}, only {', '.join(kept) or 'the shape'}. {where}"
    verb = shlex.join(["spotter-py", "curve", run, track.name, "--stat", curves[0], "--mode", step.mode])
    return f"no values were kept at {step}, only statistics ({', '.join(kept)}): `{verb}` prints one at all steps. {where}"


def _findings(run: str) -> int:
    """What the rules found while the run was recorded, a line each: severity, rule, step, tensor, what was measured, reason."""
    findings = open_trial(run).findings()
    for it in findings:
        digits = next(d for d in range(6, 18)
                      if d == 17 or (f"{it.measured:.{d}g}" == f"{it.threshold:.{d}g}") == (it.measured == it.threshold))
        measured = f"{it.measure} {it.measured:.{digits}g} {it.how} {it.threshold:.{digits}g}".strip()
        print(it.severity, it.rule, it.step, it.tensor, measured, it.reason, sep="\t")
    return 1 if any(it.severity != "note" for it in findings) else 0


def _rules(run: str, file: str, rule: Optional[str], settings: List[str], start: int, end: Optional[int], actions: Optional[str]) -> int:
    """Judges a run by the rules of a Python file; a line for each step at which one is met: rule, global step, mode, step."""
    from .rules import Rule

    install_as_smdebug()
    sys.path.insert(0, str(Path(file).resolve().parent))
    there = runpy.run_path(file)
    rules = {name: each for name, each in there.items()
             if inspect.isclass(each) and issubclass(each, Rule) and not inspect.isabstract(each) and each.__module__ == there["__name__"]}
    if rule is not None and rule not in rules:
        raise BadConfig(f"{file} has no rule {rule}{did_you_mean(rule, rules) or ':'} It has {', '.join(rules) or 'none'}")
    if not rules:
        raise BadConfig(f"{file} has no rule: no class in it derives from Rule and has an invoke_at_step")
    given = {}
    for each in settings:
        key, equals, value = each.partition("=")
        if not equals:
            raise BadConfig(f"{each} is no parameter: write NAME=VALUE")
        given[key] = value
    return max([_judge(each, run, given, start, end, actions) for name, each in rules.items() if rule in (None, name)])


def _judge(rule, run: str, given: dict, start: int, end: Optional[int], actions: Optional[str]) -> int:
    from .rules import Actions, RuleEvaluationConditionMet, invoke_rule

    trial = create_trial(run)
    try:
        inspect.signature(rule).bind(trial, **given)
    except TypeError as why:
        raise BadConfig(f"{rule.__name__}: {why}") from None
    judged = rule(trial, **given)
    if actions is not None:
        judged._actions = Actions(actions, judged.rule_name)
    code = 0
    while True:  # each is printed when it is met, also of a run that goes on
        try:
            invoke_rule(judged, start, end, raise_eval_cond=True)
            break
        except RuleEvaluationConditionMet as met:
            mode, index = trial.mode_modestep(met.step)
            print(judged.rule_name, met.step, mode.mode if mode else "", index, sep="\t", flush=True)
            code, start = 1, met.step + 1
            if met.end_of_rule:
                break
    for each in judged._actions.failures:
        print(f"spotter-py: {judged.rule_name}: {each}", file=sys.stderr)
    return 4 if judged._actions.failures else code


class _Parser(argparse.ArgumentParser):
    """One that says which word was probably meant."""

    _verbs: "argparse._SubParsersAction[_Parser]"

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            words = list(action.choices)
            raise argparse.ArgumentError(action, f"there is no {value!r}{did_you_mean(value, words) or ': there are ' + ', '.join(words)}")

    def parse_args(self, args=None, namespace=None):
        asked, left = self.parse_known_args(args, namespace)
        if left:
            verb = self._verbs.choices[asked.verb]
            options = [each for action in verb._actions for each in action.option_strings]
            written = left[0].partition("=")[0]
            guess = did_you_mean(written, options) if written.startswith("-") else ""
            verb.error(f"{left[0]!r} is not known here{guess or f': {verb.prog} --help lists what is'}")
        return asked


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("spotter-py", description=__doc__.partition(": ")[2])
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser._verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    def verb(name: str, function) -> argparse.ArgumentParser:
        found = verbs.add_parser(name, help=function.__doc__, description=function.__doc__)
        found.set_defaults(function=function)
        return found

    verb("list", _list).add_argument("folders", nargs="+", metavar="FOLDER")
    names = verb("names", _names)
    curve, value, findings, rules = verb("curve", _curve), verb("value", _value), verb("findings", _findings), verb("rules", _rules)
    for each in (names, curve, value, findings, rules):
        each.add_argument("run", metavar="RUN", help="a folder, or s3://bucket/place")
    names.add_argument("pattern", nargs="?", metavar="PATTERN", help="a glob")
    for each in (curve, value):
        each.add_argument("name", metavar="NAME")
    curve.add_argument("--stat", default="mean", help="mean, l2, maximum_abs, ...")
    curve.add_argument("--mode", choices=MODES)
    value.add_argument("step", metavar="STEP", help="100, train:100 or eval:3")
    value.add_argument("--worker", type=int)
    value.add_argument("--all", action="store_true", dest="everything", help="however many there are")
    rules.add_argument("file", metavar="FILE.py", help="with classes that derive from spotter's Rule, or smdebug's")
    rules.add_argument("--rule", metavar="CLASS", help="this one of them")
    rules.add_argument("--set", action="append", default=[], dest="settings", metavar="NAME=VALUE", help="a parameter, as text")
    rules.add_argument("--start", type=int, default=0, help="the first global step")
    rules.add_argument("--end", type=int, help="the global step to end before")
    rules.add_argument("--actions", metavar="JSON", help="done each time: '{\"name\": \"StopTraining\"}'")
    return parser


def main(arguments: Optional[List[str]] = None) -> int:
    """The exit code: 0 fine, 1 findings, 2 wrong arguments, 3 not there, 4 a file or an action that failed, 5 damage."""
    asked = vars(_parser().parse_args(arguments))
    function = asked.pop("function")
    del asked["verb"]
    try:
        return function(**asked)
    except SpotterError as why:
        print(f"spotter-py: {why}", file=sys.stderr)
        return next((code for kind, code in _CODES.items() if isinstance(why, kind)), 3)
    except BrokenPipeError:  # of `spotter-py names run | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
