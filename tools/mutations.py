#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two dozen small mistakes, made on purpose one at a time: for each there is a test that must notice it.

    tools/mutations.py                 all of them; half an hour on a small machine
    tools/mutations.py ring walker     those whose name or test has one of these words
    tools/mutations.py --list
    tools/mutations.py --stale         those whose line is no longer in its header as it was; a test of the suite runs this

To be run by a person before a release: it asks whether the tests would still catch what they are there to catch. Each mistake is an
edit of one line of a header, in a copy; the one test is compiled against the copy and run. "caught" is a test that fails, does
not end or does not compile for a static_assert; "SURVIVED" is a hole in the tests; "stale" is an edit whose line is no longer in
the header as it was: write it anew. The exit status is 0 where all were caught.
"""
import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LONGEST_SECONDS = 120  # of a test run; most take a second
MOST_MEMORY = 8 << 30


class Mutation(NamedTuple):
    name: str
    header: str  # below include/spotter; or the bodies beside it (.ipp)
    was: str     # in it exactly once
    becomes: str
    test: str    # below tests


MUTATIONS = [
    Mutation("ring: eight bytes that nobody has read are written over", "ring/byte_ring.hpp",
             "if (after > producer_.seen_tail + size_) { return nullptr; }",
             "if (after > producer_.seen_tail + size_ + 8) { return nullptr; }", "ring/exactly_full.cpp"),
    Mutation("ring: an entry goes on beyond the end of the memory", "ring/byte_ring.hpp",
             "size_ - at < needed ? size_ - at : 0;", "size_ - at < header ? size_ - at : 0;", "ring/byte_ring.cpp"),
    Mutation("ring: what is skipped at the end is not marked", "ring/byte_ring.hpp",
             "if (padding > 0) { write_header(at, padding - header, padding_tag); }", "", "ring/byte_ring.cpp"),
    Mutation("ring: more is released than was taken", "ring/byte_ring.hpp",
             "counters_->tail.store(position, std::memory_order_release);",
             "counters_->tail.store(position + 8, std::memory_order_release);", "ring/byte_ring.cpp"),
    Mutation("ring: an entry that somebody left behind may end beyond the head", "ring/byte_ring.hpp",
             "if (bytes > head - position || bytes > size_ - at) { break; }", "if (bytes > size_ - at) { break; }",
             "ring/ring_header.cpp"),

    Mutation("check: the checksum of a row frame is not compared", "format/frame.hpp",
             "if (checksum(covered) != load<std::uint64_t>(whole.data() + covered.size())) { return damaged; }", "",
             "format/segment.cpp"),
    Mutation("check: a walker does not ask where the frame before ended", "format/walker.hpp",
             "if (frame && (!chained_ || frame->previous_end == end_)) { return accept(*frame); }",
             "if (frame) { return accept(*frame); }", "format/missed_frame.cpp"),
    Mutation("check: the checksum of a sidecar's place is not compared", "format/sidecar.hpp",
             "magic == layout::place_magic && in.fixed<std::uint64_t>() == checksum(bytes.first(layout::place_bytes - 8));",
             "magic == layout::place_magic;", "format/segment.cpp"),
    Mutation("check: the checksum takes two tables for each other", "format/checksum.hpp",
             "table[1][(word >> 48) & 0xFF] ^ table[0][static_cast<std::size_t>(word >> 56)];",
             "table[0][(word >> 48) & 0xFF] ^ table[1][static_cast<std::size_t>(word >> 56)];", "format/segment.cpp"),
    Mutation("check: one number has two spellings", "format/bytes.hpp",
             "if (byte == 0 && shift > 0) { break; }", "", "format/rows.cpp"),

    Mutation("record: the loop hears of an error before it is in the file", "record/recorder.hpp",
             "            show();", "", "fault/told_and_dead.cpp"),
    Mutation("record: a run's relative path follows the working folder", "record/folder.hpp",
             "path_text const whole = files.absolute(path);", "path_text const whole{\"\", path};",
             "fault/working_folder.cpp"),
    Mutation("file: a descriptor is that of a standard stream", "file/posix.ipp",
             "detail::open_above_streams(name.get(), flags, rights);", "::open(name.get(), flags | O_CLOEXEC, rights);",
             "fault/standard_streams.cpp"),
    Mutation("ranks: a bias is nobody's to compare", "core/selector.hpp",
             "return tensor.role == role::weight || tensor.role == role::bias;", "return tensor.role == role::weight;",
             "rule/beside.cpp"),

    Mutation("rule: for_steps waits one step too long", "rule/adapt.hpp",
             "return truth_of(count > 0 && count >= steps);", "return truth_of(count > 0 && count > steps);",
             "rule/adaptors.cpp"),
    Mutation("rule: an episode lasts one close too long", "rule/report_episode.hpp",
             "++closes_ >= closes) { end(); }", "++closes_ > closes) { end(); }", "rule/adaptors.cpp"),
    Mutation("rule: an episode ends with its first healthy close", "rule/report_episode.hpp",
             "if (reported_ != 0 && ++closes_ >= closes) { end(); }", "(void)closes, end();", "rule/adaptors.cpp"),
    Mutation("rule: all holds though one tensor is undecided", "rule/quantify.hpp",
             "seen.undecided > 0 || seen.yes == 0 ? truth::undecided",
             "seen.yes == 0 ? truth::undecided", "rule/quantifiers.cpp"),
    Mutation("rule: the conjunction has the smaller severity", "rule/compound.hpp",
             "if (other.severity > into.severity) { into.severity = other.severity; }",
             "if (other.severity < into.severity) { into.severity = other.severity; }", "rule/composition.cpp"),
    Mutation("rule: equal is greater", "stat/predicate.hpp", "return left > right;", "return left >= right;",
             "stat/predicate.cpp"),

    Mutation("reader: the last of evenly spaced entries is not there", "trial/entry_list.hpp",
             "distance / each.index_stride < each.count", "distance / each.index_stride + 1 < each.count",
             "trial/names_and_steps.cpp"),
    Mutation("reader: the last step of a range was not closed", "trial/step_list.hpp",
             "return next != mine.begin() && step.index <= std::prev(next)->second;",
             "return next != mine.begin() && step.index < std::prev(next)->second;", "trial/names_and_steps.cpp"),
    Mutation("reader: a step that was left out is still expected", "trial/step_list.hpp",
             "return !mine.empty() && std::prev(mine.end())->second > step.index;", "return false;",
             "trial/live.cpp"),
    Mutation("reader: a place of the sidecar holds all but its last step", "format/sidecar.hpp",
             "return first <= index && index <= last;", "return first <= index && index < last;", "format/spans.cpp"),
    Mutation("reader: the cut row frame that closed a segment hides nothing", "trial/run_segments.hpp",
             "!goes_on_from && (mine.has_torn_end()", "false && (mine.has_torn_end()", "trial/superseded.cpp"),
]


class Bench:
    """Compiles a test against a copy of the headers, and runs it."""

    def __init__(self, folder: Path, compiler: str):
        self._folder, self._compiler = folder, compiler
        shutil.copytree(ROOT / "include", folder / "include")
        self._main = self._find_main()

    def _find_main(self) -> list:
        for words in (["-lCatch2WithMain"], ["-lCatch2Main", "-lCatch2"]):
            if self._run([self._compiler, "-x", "c++", "/dev/null", "-o", self._folder / "empty", *words]).returncode == 0:
                return words
        made = self._folder / "catch_main.o"
        told = self._run([self._compiler, "-std=c++20", "-O0", f"-I{ROOT}", "-c", ROOT / "tests/catch_main.cpp", "-o", made])
        if told.returncode != 0:
            sys.exit(f"Catch2 was not found:\n{told.stdout}")
        return [str(made)]

    @staticmethod
    def _run(words: list, seconds: int = 1800, **more) -> subprocess.CompletedProcess:
        return subprocess.run([str(each) for each in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds, check=False, **more)

    def header(self, name: str) -> Path:
        return self._folder / "include/spotter" / name

    def ask(self, test: str) -> str:
        """What notices something: the first failing test case, the compiler, the clock. Empty where nothing does."""
        program = self._folder / "test"
        program.unlink(missing_ok=True)
        told = self._run([self._compiler, "-std=c++20", "-O0", "-w", "-DFMT_HEADER_ONLY", f"-I{self._folder / 'include'}", f"-I{ROOT}",
                          ROOT / "tests" / test, "-o", program, *self._main, "-lzstd", "-lpthread", "-ldl"])
        if told.returncode != 0:
            first = next((line for line in told.stdout.splitlines() if "error" in line), "the compiler")
            return f"does not compile: {first.strip()[:120]}"
        work = self._folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        try:
            told = self._run([program, "--abort"], LONGEST_SECONDS, cwd=work,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY)))
        except subprocess.TimeoutExpired:
            return f"did not end within {LONGEST_SECONDS} s"
        if told.returncode == 0:
            return ""
        # Catch writes the test case above the first failure, between two lines of dashes.
        found = re.search(r"^-{20,}\n(.+?)\n-{20,}$", told.stdout, re.MULTILINE | re.DOTALL)
        return " ".join(found.group(1).split())[:120] if found else f"ended with {told.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only those whose name or test has one of these")
    parser.add_argument("--list", action="store_true", help="print them and their tests")
    parser.add_argument("--stale", action="store_true", help="print those whose line is not once in its header")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--no-baseline", action="store_true", help="do not look first whether the tests pass as they are")
    given = parser.parse_args()
    chosen = [each for each in MUTATIONS if not given.words or any(word in each.name or word in each.test for word in given.words)]
    if given.list:
        for each in chosen:
            print(f"{each.name}  ({each.header}; tests/{each.test})")
        return 0
    if given.stale:
        stale = [each for each in chosen if (ROOT / "include/spotter" / each.header).read_text().count(each.was) != 1]
        print(*(f"stale: {each.name}  ({each.header})" for each in stale), f"{len(stale)} of {len(chosen)} are stale", sep="\n")
        return 1 if stale else 0

    counts = {"caught": 0, "SURVIVED": 0, "stale": 0}
    with tempfile.TemporaryDirectory(prefix="spotter_mutations_") as folder:
        bench = Bench(Path(folder), given.compiler)
        for test in [] if given.no_baseline else sorted({each.test for each in chosen}):
            if noticed := bench.ask(test):
                print(f"tests/{test} fails as it is: {noticed}", flush=True)
                return 1
        for each in chosen:
            begin, header = time.monotonic(), bench.header(each.header)
            sound = header.read_text()
            if sound.count(each.was) != 1:
                verdict, noticed = "stale", f"{each.header} has its line {sound.count(each.was)} times"
            else:
                header.write_text(sound.replace(each.was, each.becomes))
                try:
                    noticed = bench.ask(each.test)
                finally:
                    header.write_text(sound)
                verdict = "caught" if noticed else "SURVIVED"
            counts[verdict] += 1
            print(f"{verdict:9}{each.name}  [tests/{each.test}, {time.monotonic() - begin:.0f} s]"
                  + (f"\n         {noticed}" if noticed else ""), flush=True)
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 0 if counts["caught"] == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
