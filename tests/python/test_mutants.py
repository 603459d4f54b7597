#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records that are damaged in every way of a kind, read by both readers: each answers what was recorded, or a named
error, and both the same.

Every byte is changed, stretches of bytes are taken out, files end early or are gone, with sidecars and without, in
records where a value has another that it may be taken for: of another attempt, of another worker, from before the loop
went back.

Environment: SPOTTER_RECORD and SPOTTER_ANSWERS, the programs of record.cpp and answers.cpp; SPOTTER_MUTANTS=n: every
n-th of the mutants, 1: all. It ends with 2 where NumPy or zstandard is missing. """

import io
import os
import struct
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import shared  # noqa: F401

import numpy as np
import spotter as st
from spotter.model import MODES, Step
from spotter.reader.frames import Bytes, Frame, Walk
from spotter.track import Track

RECORD, ANSWERS = os.environ.get("SPOTTER_RECORD"), os.environ.get("SPOTTER_ANSWERS")
STRIDE = int(os.environ.get("SPOTTER_MUTANTS", "1499"))
RECORDS = ("attempts", "killed", "packed", "back", "apart", "three", "pair")
STRETCHES = (1, 2, 5, 16, 31, 64, 100, 150, 193, 300, 500)  # bytes that are taken out


def hex_of(value):
    return struct.pack("<d", value).hex()


class Answers:
    """What the reader in Python says; the questions are those of answers.cpp."""

    def __init__(self, whole):
        self.names, self.attempts, self.workers = whole.names(), whole.attempts(), whole.workers()
        steps = set()
        for record in whole._records:
            closed = record.closed()
            steps |= set(zip(closed.mode.tolist(), closed.index.tolist()))
        self.steps = [Step(MODES[mode], index) for mode, index in sorted(steps)]
        self.folder = whole.path

    def of(self, path):
        self.found = {}
        try:
            run = st.open_trial(path)
        except st.SpotterError as why:
            return {"open": "!" + why.code}
        self.values(run, False)  # from the few rows that may hold them, then once all rows were read
        self.lists(run)
        self.values(run, True)
        return self.found

    def say(self, question, ask, *arguments, reported=str, **more):
        try:
            self.found[question] = reported(ask(*arguments, **more))
        except st.SpotterError as why:
            self.found[question] = "!" + why.code

    def values(self, run, again):
        for name in self.names:
            self.values_of(name, Track(run, name), again)
            for number in self.workers if len(self.workers) > 1 else ():
                self.values_of(f"{name} of {number}", self.track_of(run, name, number), again)

    @staticmethod
    def track_of(run, name, number):
        try:
            return Track(run, name).of(number)
        except st.NoSuchWorker:
            return Track(run, name, number)

    def values_of(self, title, track, again):
        def reported(value):
            return "".join(f"{size}," for size in value.shape) + np.asarray(value).tobytes().hex()

        for step in self.steps:
            question = f"{title} {step}"
            self.say(question + " again" * again, track.value, step, reported=reported, bits=True)
            if not again:
                continue
            self.say(question + " first", track.value, step, reported=reported, bits=True, nth=0)
            self.say(question + " second", track.value, step, reported=reported, bits=True, nth=1)
            for number in range(self.attempts if self.attempts > 1 else 0):
                self.say(f"{question} attempt {number}", track.value, step, reported=reported, bits=True, attempt=number)
            self.say(question + " mean", track.stat, step, "mean", reported=hex_of)
            self.say(question + " time", track.time, step, reported=hex_of)
            self.say(question + " shape", track.shape, step, reported=lambda shape: f"{len(shape)}/{int(np.prod(shape))}")

    def lists(self, run):
        def many(found):
            return "".join(f"{each} " for each in found)

        self.say("steps", run.steps, reported=many)
        self.say("steps of all", run.steps, closed_by="all", reported=many)
        self.say("status", run.status)
        self.say("attempts", run.attempts)
        self.say("closed", run.closed_steps)
        self.say("names", run.names, reported=many)
        self.say("findings", run.findings, reported=lambda found: "".join(f"{each.rule}@{each.step} " for each in found))
        for name in self.names:
            self.list("", name, Track(run, name))
        for number in self.workers if len(self.workers) > 1 else ():
            self.say(f"steps of {number}", run.steps, worker=number, reported=many)
            for name in self.names:
                self.list(f" of {number}", name, self.track_of(run, name, number), number not in run.workers())
        for step in self.steps:
            self.say(f"state {step}", run.state, step)
        self.say("damage", run.damage, reported=lambda found: "".join(sorted(
            {f"run{each.file[len(self.folder):]}:{each.offset}+{each.bytes} " for each in found})))

    def list(self, whose, name, track, is_missing=False):
        def many(found):
            return "".join(f"{each} " for each in found)

        def curve():
            points = ((mode, *point) for mode in ("train", "eval") for point in zip(*track.history("mean", mode=mode)))
            return "".join(f"{mode}:{index}={hex_of(value) if value == value else 'unknown'} "
                           for mode, index, value in points)

        if is_missing:  # C++ has empty lists there, Python says NoSuchWorker
            self.found.update((f"{name}{whose} {what}", "") for what in ("steps", "payload steps", "history", "loose"))
            return
        self.say(f"{name}{whose} steps", track.steps, reported=many)
        self.say(f"{name}{whose} payload steps", track.payload_steps, reported=many)
        self.say(f"{name}{whose} history", curve)
        self.say(f"{name}{whose} loose", track.loose,
                 reported=lambda found: "".join(f"{hex_of(each.value)}@{hex_of(each.time)} " for each in found))


class Other:
    """The reader in C++, which is asked line by line."""

    def __init__(self, folder):
        self.program = subprocess.Popen([ANSWERS, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.stdin.close()
        self.program.stdout.close()
        self.program.wait()

    def of(self, mutant):
        self.program.stdin.write(mutant + "\n")
        self.program.stdin.flush()
        found = {}
        for line in self.program.stdout:
            if line == ".\n":
                return found
            question, _, answer = line.rstrip("\n").partition("\t")
            found[question] = answer
        raise AssertionError(f"the program ended at: {mutant}")


class Folder:
    """A run's folder, mutated as answers.cpp does it."""

    def __init__(self, path):
        self.path = Path(path)
        self.files = {str(each.relative_to(path)): each.read_bytes() for each in sorted(self.path.rglob("*"))
                      if each.is_file() and each.name != "lock"}
        self.changed = set()
        self.last_frame = {}  # where that of a segment begins
        for name, data in self.files.items():
            walk = Walk(Bytes(io.BytesIO(data), len(data)), 64) if name.endswith(".spot") else ()
            self.last_frame[name] = max((each.offset for each in walk if isinstance(each, Frame)), default=0)

    def mutate(self, mutant):
        words, _, without = mutant.partition(" ; without ")
        what, name, *numbers = words.split()
        data = self.files[name]
        at, more = ([int(each) for each in numbers] + [0, 0])[:2]
        if what == "flip":
            data = data[:at] + bytes((data[at] ^ more,)) + data[at + 1:]
        elif what == "erase":
            data = data[:at] + data[at + more:]
        elif what == "cut":
            data = data[:at]
        self.changed = {name, *without.split()}
        for each in without.split() + ([name] if what == "drop" else []):
            (self.path / each).unlink()
        if what != "drop":
            (self.path / name).write_bytes(data)

    def restore(self):
        for each in self.changed:
            (self.path / each).write_bytes(self.files[each])
        self.changed = set()


def mutants_of(folder, stride):
    """All mutants of a folder, or one in so many."""
    sides = sorted(each for each in folder.files if each.endswith(".spotx"))
    number = 0
    for name, data in folder.files.items():
        sidecars = [""] if name in sides else ["", " ; without " + " ".join(sides)]
        for without in sidecars:
            for at in range(len(data)):
                number += 1
                mask = 1 << (number * 5 % 8) if number % 3 else 255 - number % 251
                yield number, f"flip {name} {at} {mask}{without}"
                for size in STRETCHES if at > 0 else ():
                    number += 1
                    if at + size < len(data):
                        yield number, f"erase {name} {at} {size}{without}"
                number += 1
                yield number, f"cut {name} {at}{without}"
            number += stride - number % stride
            yield number, f"drop {name}{without}" if name not in sides else f"cut {name} 0"


# What x was after the loop had gone back, in the records "back" and "apart".
SECOND_PASS = [hex_of(100.0 + i + half) for i in range(3, 7) for half in (0.0, 0.5)]


def is_error(answer):
    return answer.startswith("!")


def parts(answer):
    return answer.split()


@unittest.skipUnless(RECORD and ANSWERS, "SPOTTER_RECORD and SPOTTER_ANSWERS do not name the programs")
class Mutants(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @staticmethod
    def is_earlier_state(what, mutant, folder, found):
        """Whether what is left is a record as it once was, so that nothing can tell that there was more: no sidecar
        knows better, and a segment is gone, or lacks the head of its last row frame. Or nothing is left of what came
        after the loop had gone back."""
        kind, name, *numbers = mutant.partition(" ; ")[0].split()
        if "without" not in mutant:
            return False
        if what in ("back", "apart") and not any(each in found.get("x history", "") for each in SECOND_PASS):
            return True
        if kind == "flip":
            return False
        if kind == "drop":
            return True
        at = int(numbers[0])
        end = len(folder.files[name]) if kind == "cut" else at + int(numbers[1])
        first = folder.last_frame[name]
        return at < first + 48 and end > first

    def sound(self, question, answer, whole):
        """Whether an answer is that of the whole record, an error, or of a list a part of it."""
        if question in ("status", "attempts", "closed", "damage") or question.startswith("state ") or is_error(answer):
            return True
        is_list = question in ("names", "findings") or any(word in question for word in ("step", "history", "loose"))
        if is_list and question in whole and not is_error(whole[question]):
            lacking = Counter(parts(answer)) - Counter(parts(whole[question]))
            return not {each for each in lacking if not each.endswith("=unknown")}
        return answer == whole.get(question)

    def each(self, what, stride, check):
        path = f"{self.folder}/{what}"
        subprocess.run([RECORD, what, path], check=True)
        folder = Folder(path)
        ours = Answers(st.open_trial(path))
        with Other(path) as other:
            whole = other.of("whole")
            self.assertEqual(ours.of(path), whole)
            self.assertFalse(whole["damage"])
            for number, mutant in mutants_of(folder, stride):
                if number % stride == 0:
                    check(mutant, folder, ours, other, whole)

    def test_both_readers_say_what_was_recorded_or_a_named_error_and_both_the_same(self):
        for what in RECORDS:
            with self.subTest(what):
                counted = Counter()
                self.each(what, STRIDE, lambda *of: self.one(what, counted, *of))
                print(f"{what}: {counted['mutants']} mutants, {counted['answers']} answers, {counted['refused']} of them "
                      f"errors, {counted['earlier']} mutants are the record as it once was")
                self.assertGreater(counted["mutants"], 10)
                self.assertGreater(counted["refused"], 20 * counted["mutants"])

    def one(self, what, counted, mutant, folder, ours, other, whole):
        theirs = other.of(mutant)
        folder.mutate(mutant)
        try:
            mine = ours.of(str(folder.path))
        finally:
            folder.restore()
        earlier = self.is_earlier_state(what, mutant, folder, theirs)
        counted.update(mutants=1, answers=len(mine), earlier=earlier, refused=sum(map(is_error, mine.values())))
        self.assertEqual(mine, theirs, mutant)
        for question, answer in mine.items():
            if question.endswith(" again"):
                self.assertEqual(answer, mine[question[:-len(" again")]], (mutant, question))
            if not earlier:
                self.assertTrue(self.sound(question, answer, whole),
                                f"{mutant}: {question}: {answer}, not {whole.get(question)}")


if __name__ == "__main__":
    unittest.main()
