#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that the hot paths of paths.cpp take and holds them against counts.txt.

    python3 tests/instructions/count.py              compare; exit code 1 where one takes over 10 % more
    python3 tests/instructions/count.py --update     write what was counted into counts.txt

Without --program it compiles paths.cpp with g++ -O2 first. Instructions are no time, but they are the same in every run, whatever
else the machine does: so a path that grows is seen at once. Timings are in bench/. valgrind does not know AVX-512, so that the
statistics are counted on their AVX2 path.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "counts.txt"
HEAD = "# Instructions a call: g++ 12 -O2, x86-64, AVX2. python3 tests/instructions/count.py --update writes this file.\n"
MOST = 1.1  # times the count of the table


def skip(why):
    print(f"SPOTTER_SKIP: {why}")
    sys.exit(0)


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}failed: {done.returncode}")
    return done.stdout


def compiled(folder):
    if not shutil.which("g++"):
        skip("the counts are those of g++ 12, which was not found")
    if not re.match(r"12(\.|$)", run(["g++", "-dumpversion"])):
        skip("the counts are those of g++ 12")
    if not run(["g++", "-dumpmachine"]).startswith("x86_64"):
        skip("the counts are those of x86-64")
    program = folder / "paths"
    run(["g++", "-std=c++20", "-O2", "-DNDEBUG", f"-I{ROOT / 'include'}", f"-I{ROOT}", HERE / "paths.cpp", "-lzstd", "-pthread", "-o", program])
    return program


def counted(program, folder):
    """Instructions a call, by name, in the order of the program."""
    said = run(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no", f"--callgrind-out-file={folder / 'counted'}",
                program.resolve(), folder])
    if "SPOTTER_SKIP" in said:
        skip(said.split("SPOTTER_SKIP: ", 1)[1].strip())
    calls = {name: int(number) for name, number in re.findall(r"^(\w+) (\d+)$", said, re.MULTILINE)}
    totals = {}
    for file in folder.glob("counted.*"):
        text = file.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (\w+)$", text, re.MULTILINE)
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if name and total:
            totals[name[1]] = int(total[1])
    if not calls or set(calls) != set(totals):
        sys.exit(f"{said}what callgrind counted does not belong to it: {sorted(totals)}")
    return {name: totals[name] / calls[name] for name in calls}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--program", type=pathlib.Path, help="paths.cpp, compiled")
    options.add_argument("--update", action="store_true", help="write counts.txt")
    options = options.parse_args()
    if not shutil.which("valgrind"):
        skip("valgrind was not found")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        now = counted(options.program or compiled(folder), folder)
    table = HEAD + "".join(f"{name} {count:.2f}\n" for name, count in now.items())

    before = {}
    if TABLE.exists():
        before = {line.split()[0]: float(line.split()[1]) for line in TABLE.read_text().splitlines() if line[:1] not in ("", "#")}
    grown = 0
    for name, count in now.items():
        was = before.get(name)
        bad = was is None or count > MOST * was
        grown += bad
        change = "is not in the table" if was is None else f"{100 * (count / was - 1):+.1f} % of {was:.2f}"
        print(f"{name:28} {count:10.2f}  {change}{', too much' if bad and was else ''}")
    for name in sorted(set(before) - set(now)):
        grown += 1
        print(f"{name:28} is in the table, but no longer in paths.cpp")
    if options.update:
        TABLE.write_text(table)
        print(f"{TABLE} was written")
    elif grown:
        print(f"\nWhere this is meant, the new table is (count.py --update writes it):\n\n{table}")
        sys.exit(1)


main()
