# SPDX-License-Identifier: Apache-2.0
# Each source file by itself: those that a build compiles together with others, or behind a precompiled header, as if they stood alone, so
# that each includes what it uses; and each header of spotter. Nothing is made; what most tests include first, Catch2, is parsed once.
#   each_file.py <compile_commands.json> <the tree> <a folder for what is written> <folder of the tree>...
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

database, tree, place = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
folders = tuple(f"{tree / folder}/" for folder in sys.argv[4:])
workers = int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1)
long_to_parse = re.compile(r"/tests/ext/torch")  # with libtorch; it is compiled alone in any case


def alone(command):
    """The command line without what makes, caches and optimises, and without what was precompiled."""
    words, kept, skip = shlex.split(command), [], 0
    while words and (words[0].endswith(("ccache", "cmake")) or "=" in words[0] or words[0] in ("-E", "env")):
        words.pop(0)
    for word in words:
        if skip:
            skip -= 1
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = 1
        elif word == "-include" or word.endswith("cmake_pch.hxx"):
            skip = 1 if word == "-include" else 0
        elif word not in ("-c", "-MD", "-fpch-preprocess", "-Winvalid-pch", "-Wno-parentheses") and not re.match(r"-[Og]", word):
            kept.append(word)
    # (Catch2's header switches -Wparentheses off, which a precompiled one forgets.)
    return [kept[0], "-fsyntax-only", f"-I{place}", *kept[1:-1], "-Wno-parentheses", kept[-1]]


jobs = {}
for entry in json.loads(Path(database).read_text()):
    source = str(Path(entry["directory"], entry["file"]).resolve())
    if source.startswith(folders) and not long_to_parse.search(source):
        jobs.setdefault(source, (alone(entry["command"]), entry["directory"]))
if not jobs:
    sys.exit("no file of these folders is compiled")

# Each header as the build compiles a door of its library's: tests/headers has a file a door.
doors = {}
for entry in json.loads(Path(database).read_text()):
    source = Path(entry["directory"], entry["file"])
    included = re.fullmatch(r"#include <spotter/(?:ext/([^/.]+))?.*>", source.read_text().strip()) if "/tests/headers/" in str(source) else None
    if included:
        doors.setdefault(included.group(1), (alone(entry["command"]), entry["directory"]))
other_system = "posix" if os.name == "nt" else "windows"
for header in sorted((tree / "include" / "spotter").rglob("*.hpp")):
    name = header.relative_to(tree / "include").as_posix()
    library = re.match(r"spotter/ext/([^/.]+)", name)
    door = doors.get(library.group(1) if library else None)
    # Of a library that is not here, of another system, or for one file of a program (tests/odr).
    if door is None or name.startswith(f"spotter/file/{other_system}") or name == "spotter/implementation.hpp":
        continue
    source = place / "headers" / (name.replace("/", "_") + ".cpp")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(f"#include <{name}>\n")
    jobs[str(source)] = ([*door[0][:-1], str(source)], door[1])

header = tree / "tests" / "catch.hpp"
first = next((job for source, job in jobs.items() if "#include <tests/catch.hpp>" in Path(source).read_text()), None)
made = {}  # by Clang for each set of options that a program of the tests has; g++ finds the one that fits by itself
by_clang = first is not None and "clang" in Path(shutil.which(first[0][0]) or first[0][0]).resolve().name


def precompile(words, folder, into):
    into.parent.mkdir(parents=True, exist_ok=True)
    words = [word for word in words[:-1] if word != "-fsyntax-only"]
    subprocess.run([*words, "-w", "-x", "c++-header", str(header), "-o", str(into)], cwd=folder, check=True)


if first and not by_clang:
    precompile(*first, place / "tests" / "catch.hpp.gch")
if by_clang:
    for source, (words, folder) in jobs.items():
        options = tuple(words[:-1])
        if options not in made and "#include <tests/catch.hpp>" in Path(source).read_text():
            made[options] = place / f"{len(made)}.pch"
            precompile(words, folder, made[options])


def compiled(item):
    source, (words, folder) = item
    if tuple(words[:-1]) in made and "#include <tests/catch.hpp>" in Path(source).read_text():
        words = [words[0], "-include-pch", str(made[tuple(words[:-1])]), *words[1:]]
    return source, subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


begin, wrong = time.monotonic(), 0
with ThreadPoolExecutor(workers) as pool:
    for source, run in pool.map(compiled, sorted(jobs.items())):
        if run.returncode != 0:
            wrong += 1
            print(f"{os.path.relpath(source, tree)} does not compile by itself:\n{run.stdout}", flush=True)
print(f"{len(jobs)} files by themselves, {wrong} of them do not compile; {time.monotonic() - begin:.0f} s")
sys.exit(wrong != 0)
