#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package spotter as text: what Python 3.9 cannot read, names that are taken from nowhere, files that grew too long, versions that
differ. Needs nothing but Python."""

import ast
import re
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
FILES = sorted((SOURCE / "tools" / "python" / "spotter").rglob("*.py"))
# What came after 3.9 and does not show in the grammar: names that may be imported.
LATER = ("pairwise", "batched", "StrEnum", "TaskGroup", "Self", "override", "TypeAlias", "ParamSpec", "NoneType", "assert_never", "chdir")


def annotations_of(tree):
    for node in ast.walk(tree):
        for each in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if each is not None:
                yield from ast.walk(each)


def later_than_3_9(text):
    """What of a file needs a later Python than 3.9."""
    tree = ast.parse(text, feature_version=(3, 9))
    lazy = any(isinstance(each, ast.ImportFrom) and each.module == "__future__" for each in tree.body)
    unread = {id(each) for each in annotations_of(tree)} if lazy else set()
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found += [each.name for each in node.names if each.name in LATER]
        if isinstance(node, ast.Attribute) and node.attr == "bit_count":
            found.append("bit_count")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "zip" and any(each.arg == "strict" for each in node.keywords):
            found.append("zip.strict")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and id(node) not in unread and \
                all(getattr(each, "id", "") in ("int", "str", "float", "list", "dict", "tuple") or
                    (isinstance(each, ast.Constant) and each.value is None) for each in (node.left, node.right)):
            found.append("int | None")
    return found


class Sources(unittest.TestCase):
    def test_python_3_9_reads_them(self):
        for path in FILES:
            self.assertEqual(later_than_3_9(path.read_text(encoding="utf-8")), [], path)
        self.assertGreater(len(FILES), 25)

    def test_what_is_later_is_found(self):
        for text in ("zip(a, b, strict=True)", "x: int | None = 3", "from typing import Self", "a = int | None", "x.bit_count()"):
            self.assertTrue(later_than_3_9(text), text)
        for text in ("match x:\n    case 1: pass", "with (open(a) as b, open(c) as d): pass\ndef f[T](): pass"):
            self.assertRaises(SyntaxError, ast.parse, text, feature_version=(3, 9))
        self.assertEqual(later_than_3_9("from __future__ import annotations\nx: int | None = 3"), [])

    def test_no_file_is_too_long(self):
        for path in FILES:
            lines = path.read_text(encoding="utf-8").splitlines()
            self.assertEqual((path, lines[0]), (path, "# SPDX-License-Identifier: Apache-2.0"))
            self.assertLessEqual(len(lines), 500, path)
            self.assertLessEqual(max(map(len, lines)), 140, path)

    def test_one_version(self):
        header = (SOURCE / "include" / "spotter" / "version.hpp").read_text(encoding="utf-8")
        said = re.search(r'__version__ = "(.*)"', (SOURCE / "tools" / "python" / "spotter" / "_version.py").read_text()).group(1)
        self.assertEqual(said, ".".join(re.findall(r"SPOTTER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)))


if __name__ == "__main__":
    unittest.main()
