# SPDX-License-Identifier: Apache-2.0
"""The include law (docs, layers): who may include whom, and what.

    python3 tools/include_law.py [include folder]

Prints one line a breach, in the form file:line, and ends with 1 if there is one.
"""
import pathlib
import re
import sys

# The layers, lowest first. A folder may include folders of lower layers; neighbours do not know each other.
LAYERS = (
    ("core",),
    ("stat", "ring", "format", "file"),
    ("plan", "rule"),
    ("diagnosis", "judge"),
    ("hook", "preflight"),
    ("record", "trial"),
    ("replay", "report", "response", "export"),
    ("ext", "c", "diff", "supervise", "act", "workbench"),
)
LEVEL = {folder: level for level, row in enumerate(LAYERS) for folder in row}

LIGHT = {"vector", "string", "memory", "functional", "regex", "thread", "chrono", "iostream", "filesystem"}
FILES = {"cstdio", "fstream", "filesystem"}

# Standard headers that the declarations of a folder must not include; its bodies may.
HEAVY = {
    "core": LIGHT,
    "stat": LIGHT,
    "plan": LIGHT,
    "rule": LIGHT,
    "diagnosis": LIGHT,
    "judge": LIGHT,
    "ring": LIGHT,
    "format": LIGHT | FILES,
    "hook": LIGHT,
    "preflight": {"functional", "regex", "thread", "chrono", "iostream", "filesystem"},
    "record": {"regex", "iostream"},
    "trial": {"thread", "regex", "iostream"},
}

# Third-party packages that a folder may include; none where it has no row. ext/x.hpp and ext/x/ may include x and
# nothing else.
THIRD = re.compile(r"^(fmt|xtensor|xtl|xsimd|zstd|zdict|Eigen|torch|ATen|c10|nlohmann|CLI|catch2|opencv2|armadillo|mpi|xgboost|hdf5|boost|zlib)\b")
MAY_THIRD = {"format": {"zstd", "zdict"}, "report": {"fmt"}, "export": {"fmt"}}
EXT = {
    "xtensor": {"xtensor", "xtl", "xsimd"},
    "eigen": {"Eigen"},
    "torch": {"torch", "ATen", "c10"},
    "json": {"nlohmann"},
    "opencv": {"opencv2"},
    "xgboost": {"xgboost", "nlohmann"},
}

# Headers that may include what their folder may not: those that a user asks for by name.
GRANTED = {}

# The doors of a loop's file. A door and everything behind it may reach only these folders, none of these standard headers, no third party
# and no rule of the catalogue: a rule is had by its own header. What only bodies reach is not behind it.
THIN = LIGHT | {"algorithm", "atomic", "fstream", "mutex", "sstream"}
HOOK = {"core", "stat", "plan", "rule", "judge", "hook"}
DOORS = {
    "hook.hpp": (HOOK, THIN),
    "spotter.hpp": (HOOK | {"record"}, THIN),
    "packs.hpp": (HOOK | {"diagnosis"}, THIN),
    "print.hpp": (HOOK | {"report"}, THIN),
    "preflight.hpp": ({"core", "stat", "rule", "preflight"}, THIN),
}

# What a header of the workbench is made of: declarations. Its bodies are a library's, tools/workbench.
BODY = re.compile(r"^\s*(template\b|inline\b(?! SPOTTER_ABI)|\[\[nodiscard\]\] inline\b)")
WORKBENCH_THIRD = {"fmt", "nlohmann", "zlib"}
# A header that moved: for one release it includes the one that it became, and says so.
MOVED = "#pragma message("

LONGEST = 500
# What compiles and is wrong somewhere.
TRAPS = (
    (re.compile(r"\.wait\([\w.]+, std::memory_order"), "std::atomic's wait loses wakings where libstdc++ has no futex (MinGW): use a condition variable"),
    (re.compile(r"\bstd::(stable_sort|stable_partition|inplace_merge)\("), "it takes memory, and clang says that libstdc++ 12's is deprecated: give std::sort a tie-break"),
)
# Descriptors that are made while the numbers of standard streams are kept (file/descriptor.hpp): else what a program prints goes into them.
DESCRIPTORS = re.compile(r"(?<![\w>])::(open|openat|creat|opendir|pipe2?|socket|accept4?|mkstemp|memfd_create|eventfd|epoll_create1?|inotify_init1?|dup)\(")
KEPT, KEPT_LINES = "standard_streams_kept", 8
# What runs in a training's process maps no file of a run's: whoever cuts one meanwhile would end the training. Readers map, and look first.
TRAINS = {"plan", "rule", "diagnosis", "judge", "hook", "record", "response", "supervise", "act", "ext"}
MAPS = re.compile(r"\bfiles\w*(\(\))?(\.|->)map\(|\bMAP_SHARED\b")
MAY_MAP = {"ext/s3/files.hpp"}  # a reader, and a file of its own that has no name
BODIES = "#if SPOTTER_BODIES"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def lines_of(header):
    """Triples: line number, line, whether it is of the bodies. These are in x.ipp, which x.hpp includes last, or in x.hpp
    between `#if SPOTTER_BODIES` and its `#else` or `#endif`."""
    depth = body_depth = 0
    for number, line in enumerate(header.read_text(errors="replace").splitlines(), 1):
        directive = re.match(r"\s*#\s*(if|else|endif)", line)
        if directive and directive.group(1) == "if":
            depth += 1
            if line.strip() == BODIES and body_depth == 0:
                body_depth = depth
        elif directive and depth == body_depth:
            body_depth = 0
        yield number, line, header.suffix == ".ipp" or (body_depth > 0 and line.strip() != BODIES)
        depth -= 1 if directive and directive.group(1) == "endif" else 0


def includes(header, bodies=False):
    """Pairs of line number and included name: of what is declared, or of the bodies alone, on which no declaration depends."""
    for number, line, is_body in lines_of(header):
        match = INCLUDE.match(line)
        if match and is_body == bodies and not match.group(1).endswith(".ipp"):
            yield number, match.group(1)


def has_bodies(header):
    """Whether the file holds bodies, and not only the include of an .ipp."""
    return any(is_body and line.strip() and not line.rstrip().endswith(".ipp>") for _, line, is_body in lines_of(header))


def folder_of(name):
    """`spotter/core/bits.hpp` -> `core`; an umbrella or a foreign header -> nothing."""
    parts = name.split("/")
    return parts[1] if parts[0] == "spotter" and len(parts) > 2 else ""


def adapter_of(name):
    """`spotter/ext/json.hpp` and `spotter/ext/json/plan_reader.hpp` -> `json`."""
    return pathlib.PurePath(name.split("/")[2]).stem


def moved_breaches(header):
    """A header that moved has nothing but the way to where it is now."""
    names = [name for _, name in includes(header)]
    if not names or not all(name.startswith("spotter/workbench/") for name in names) or "namespace" in header.read_text():
        yield 1, "says that it moved: it includes what it became, and nothing else is in it"


def breaches_of(header, own_name):
    """Breaches of one header below spotter/."""
    folder = folder_of("spotter/" + own_name)
    if MOVED in header.read_text():
        yield from moved_breaches(header)
        return
    if folder == "workbench":
        for number, line in enumerate(header.read_text().splitlines(), 1):
            if BODY.match(line):
                yield number, "a header of the workbench only declares"
    if folder and folder not in LEVEL:
        yield 1, f"the folder {folder} has no layer"
        return
    granted = GRANTED.get(own_name, set())
    declared, bodies = ([(*it, is_body) for it in includes(header, is_body)] for is_body in (False, True))
    for number, name, is_body in declared + bodies:
        target = folder_of(name)
        if name.startswith("."):
            yield number, f"{name}: write <spotter/...>"
        elif target and folder:
            if target not in LEVEL:
                yield number, f"{name}: the folder {target} has no layer"
            elif target != folder and LEVEL[target] > LEVEL[folder]:
                yield number, f"{folder} includes {target}, which is above it"
            elif target != folder and LEVEL[target] == LEVEL[folder]:
                yield number, f"{folder} includes {target}, its neighbour"
            elif target == folder == "ext" and adapter_of(name) != adapter_of("spotter/" + own_name):
                yield number, f"{name}: adapters do not know each other"
        elif not is_body and name in HEAVY.get(folder, set()) - granted:
            yield number, f"{folder} includes <{name}>"
        third = THIRD.match(name)
        if third and folder:
            allowed = MAY_THIRD.get(folder, set())
            if folder == "ext":
                adapter = adapter_of("spotter/" + own_name)
                allowed = EXT.get(adapter, {adapter})
            if third.group(1) not in allowed:
                yield number, f"{folder} includes <{name}>"
        if third and third.group(1) == "zstd" and folder and "zstd" not in own_name:
            yield number, f"<{name}>: only the zstd codec includes it"


def reach(root, own_name, seen):
    """All headers of spotter behind one, itself included."""
    if own_name in seen or not (root / own_name).is_file():
        return
    seen.add(own_name)
    for _, name in includes(root / own_name):
        if name.startswith("spotter/"):
            reach(root, name[len("spotter/"):], seen)


def bodies_of(root, source):
    """The files whose bodies a file of the compiled part holds: what it meets once spotter/implementation.hpp was met."""
    seen, bodies, open_now = set(), [], False

    def walk(header):
        nonlocal open_now
        open_now = open_now or header == root / "implementation.hpp"
        for _, line, is_body in lines_of(header):
            match = INCLUDE.match(line)
            name = match.group(1) if match else ""
            is_body = is_body or name.endswith(".ipp")
            if not name.startswith("spotter/") or name in seen or (is_body and not open_now):
                continue
            seen.add(name)
            if open_now and has_bodies(root.parent / name):
                bodies.append(name)
            walk(root.parent / name)

    walk(source)
    return bodies


def workbench_breaches(root):
    """The library behind spotter/workbench: few foreign libraries, files that are no longer than headers are."""
    folder = root.parent.parent / "tools" / "workbench"
    for source in sorted([*folder.rglob("*.cpp"), *folder.rglob("*.hpp")]):
        length = len(source.read_text().splitlines())
        if length > LONGEST:
            yield f"{source}:{length}: longer than {LONGEST} lines"
        for number, name in includes(source):
            third = THIRD.match(name)
            if third and third.group(1) not in WORKBENCH_THIRD:
                yield f"{source}:{number}: the workbench includes <{name}>"


def compiled_breaches(root):
    """A body must stand in one file of cmake/compiled, and in no more than one. An installed tree has no such folder."""
    sources = sorted((root.parent.parent / "cmake" / "compiled").glob("*.cpp"))
    where = {}
    for source in sources:
        for name in bodies_of(root, source):
            where.setdefault(name, []).append(source.name)
    for body in sorted(filter(has_bodies, root.rglob("*.[hi]pp"))) if sources else []:
        held = where.get(body.relative_to(root.parent).as_posix(), [])
        if len(held) != 1:
            yield f"{body}:1: {len(held)} files of cmake/compiled hold it ({', '.join(held) or 'none'}); it must be one"


def trap_breaches(root):
    """In every C++ file of the project; beside an installed tree's headers there are no others."""
    folders = [root] + [root.parent.parent / name for name in ("bench", "cmake", "examples", "tests", "tools")]
    for source in sorted(file for folder in folders for pattern in ("*.[hi]pp", "*.h", "*.cpp") for file in folder.rglob(pattern)):
        for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
            for trap, text in TRAPS:
                if trap.search(line):
                    yield f"{source}:{number}: {text}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "include") / "spotter"
    if not root.is_dir():
        sys.exit(f"no folder {root}")
    found = []
    for header in sorted([*root.rglob("*.h*"), *root.rglob("*.ipp")]):
        own_name = header.relative_to(root).as_posix()
        found += [f"{header}:{number}: {text}" for number, text in breaches_of(header, own_name)]
        lines = header.read_text(errors="replace").splitlines()
        found += [f"{header}:{number}: a descriptor that may be a standard stream's: see spotter/file/descriptor.hpp" for number, line in enumerate(lines, 1)
                  if DESCRIPTORS.search(line) and not any(KEPT in before for before in lines[max(0, number - KEPT_LINES):number])]
        if folder_of("spotter/" + own_name) in TRAINS and own_name not in MAY_MAP:
            found += [f"{header}:{number}: maps a file in a training's process: read it (record/segment_image.hpp, file/replacing_file.hpp)"
                      for number, line in enumerate(lines, 1) if MAPS.search(line)]
        length = len(lines)
        if length > LONGEST:
            found.append(f"{header}:{length}: longer than {LONGEST} lines")
    for door, (folders, heavy) in DOORS.items():
        behind = set()
        reach(root, door, behind)
        for own_name in sorted(behind):
            folder = folder_of("spotter/" + own_name)
            if folder and folder not in folders or own_name.startswith("rule/builtin/"):
                found.append(f"{root / door}:1: reaches {own_name}")
            found += [f"{root / door}:1: reaches <{name}> through {own_name}"
                      for _, name in includes(root / own_name) if name in heavy or THIRD.match(name)]
    found += trap_breaches(root)
    found += compiled_breaches(root)
    found += workbench_breaches(root)
    print("\n".join(found + [f"{len(found)} breaches of the include law"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
