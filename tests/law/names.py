# SPDX-License-Identifier: Apache-2.0
"""Names of tests and of their sections that Catch2 2 cannot print.

    python3 tests/law/names.py [tests folder]

It breaks a long name's lines below what stands behind the first ": ", and ends the process where that is no column of its 80: a test that
fails would then not say where. Prints one line a breach, in the form file:line, and ends with 1 if there is one.
"""
import pathlib
import re
import sys

LAST_COLUMN = 76
NAMED = re.compile(r'\b(?:TEST_CASE|SECTION|SCENARIO|TEMPLATE_TEST_CASE)\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)')


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests")
    files = sorted(root.rglob("*.cpp"))
    if not files:
        sys.exit(f"{root}: no .cpp file")
    breaches = 0
    for path in files:
        text = path.read_text()
        for match in NAMED.finditer(text):
            name = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1]))
            if name.find(": ") > LAST_COLUMN:
                print(f'{path}:{text.count(chr(10), 0, match.start()) + 1}: the first ": " stands beyond column {LAST_COLUMN}: "{name}"')
                breaches += 1
    return 1 if breaches else 0


sys.exit(main())
