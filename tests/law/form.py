# SPDX-License-Identifier: Apache-2.0
"""The form of the sources: as .clang-format says, by one version of clang-format, and no line above 120 columns.

    python3 tests/law/form.py <the tree> [clang-format]

Prints one line a breach and ends with 1 if there is one. Without a second argument line lengths alone are checked.
`clang-format-19 -i <file>` mends a file; a literal or a macro that is too long is split by hand.
"""
import pathlib
import subprocess
import sys

FOLDERS = ("include", "tests", "tools", "examples", "bench")
COLUMNS = 120


def main() -> int:
    tree = pathlib.Path(sys.argv[1])
    files = sorted(path for folder in FOLDERS for path in (tree / folder).rglob("*") if path.suffix in {".hpp", ".ipp", ".cpp", ".h"})
    if not files:
        sys.exit(f"{tree}: no sources")
    breaches = 0
    for path in files:
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if len(line) > COLUMNS:
                print(f"{path}:{number}: {len(line)} columns, {COLUMNS} are the most")
                breaches += 1
    if len(sys.argv) > 2:
        names = [str(path) for path in files]
        made = subprocess.run([sys.argv[2], "--dry-run", "-Werror", "-ferror-limit=1", *names], capture_output=True, text=True)
        reported = [line for line in made.stderr.splitlines() if ": error:" in line]
        print(*reported, sep="\n")
        breaches += len(reported) if made.returncode == 0 or reported else 1
    return 1 if breaches else 0


sys.exit(main())
