# SPDX-License-Identifier: Apache-2.0
"""The headers as Doxygen wants them: what docs/Doxyfile reads.

    python3 tools/reference_filter.py include build/reference/include

The headers have plain comments. In the copies a `//` block right above a declaration becomes `///`, a trailing one `///<`, the lines on top of the file
its description. What a block says holds for the overloads that follow without a blank line, in a header for C for all functions that do; what is in backquotes is code, and so are lines
that are indented by four spaces. Comments in bodies, and those that stand by themselves, stay as they are. C's comments in a .h are read alike.
"""
import pathlib
import re
import sys

SCOPES = ("namespace", "class", "enum")


def without_templates(head):
    """The head of a declaration without `template <...>`."""
    while (found := re.search(r"\btemplate\s*<", head)):
        depth, end = 1, found.end()
        while end < len(head) and depth:
            depth += {"<": 1, ">": -1}.get(head[end], 0)
            end += 1
        head = head[: found.start()] + head[end:]
    return head


def kind_of(head):
    """What a brace behind this head opens."""
    if re.search(r"\bnamespace\b|\bextern \"", head):
        return "namespace"
    head = without_templates(head)
    if re.match(r"\s*(typedef\s+)?enum\b", head):
        return "enum"
    found = re.search(r"(?:^|[\s)])(?:struct|class|union)\b(?!.*\b(?:struct|class|union)\b)", head, re.S)
    if found and "(" not in re.sub(r"alignas\([^)]*\)", "", head[found.end():]) and "=" not in head[found.end():]:
        return "class"
    return "body"


def name_of(head):
    """The name of the function that is declared, or nothing."""
    head = without_templates(head)
    found = re.search(r"\boperator\s*(\(\)|[^\s(]+|\s\w+)\s*\(|(~?\w+)\s*\(", re.sub(r"\[\[.*?\]\]|\brequires\s*\(.*?\)\s", "", head, flags=re.S))
    if not found or "=" in head[: head.find(found.group(0))].replace("operator==", ""):
        return None
    return found.group(2) or "operator" + found.group(1)


def words(text):
    """Prose for Doxygen: backquotes are code, no other character has a meaning."""
    def plain(part):
        return re.sub(r"([\\@<>&#%*~])", r"\\\1", part)

    def code(part):
        part = part.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return "<code>" + re.sub(r"([\\@#%*~])", r"\\\1", part).replace("::", "\\::") + "</code>"

    parts = text.split("`")
    if len(parts) % 2 == 0:
        return plain(text)
    return "".join(code(part) if i % 2 else plain(part) for i, part in enumerate(parts))


def described(lines, mark="///"):
    """A comment's lines, as Doxygen reads them."""
    found, prose, code = [], [], []

    def flush():
        if prose:
            found.extend(words("\n".join(prose)).split("\n"))
            prose.clear()
        if code:
            found.extend([r"\code{.cpp}", *code, r"\endcode"])
            code.clear()

    for line in lines:
        if line.startswith("    ") and line.strip():
            if prose:
                flush()
            code.append(line[4:])
        else:
            if code:
                flush()
            prose.append(line.strip())
    flush()
    return [f"{mark} {line}".rstrip() for line in found]


class header:
    def __init__(self, text, of_c=False):
        self.of_c = of_c
        self.lines = text.split("\n")
        self.before = {}  # line: what to print before it
        self.instead = {}
        self.scopes = []
        self.head = ""
        self.head_line = None  # where the head of the declaration begins
        self.parens = 0
        self.block = []  # a comment that may belong to what follows
        self.last = None  # the description and the name of the declaration before, while nothing is between
        self.trailing = None  # the column of the trailing comment before

    def in_scope(self):
        return all(scope in SCOPES for scope in self.scopes) and self.parens == 0

    def read(self):
        number = self.top()
        in_comment = False
        while number < len(self.lines):
            line = self.lines[number]
            stripped = line.strip()
            if in_comment or stripped.startswith("/*"):
                in_comment = "*/" not in stripped
            elif stripped.startswith("#"):
                if stripped.startswith("#define") and self.block:
                    self.before[number] = described(self.block)
                while self.lines[number].endswith("\\"):
                    number += 1
                self.block, self.last = [], None
            elif not stripped:
                self.block, self.last, self.trailing = [], None, None
            elif stripped.startswith("//"):
                self.comment(number, line)
            else:
                self.code(number, line)
            number += 1
        return self.text()

    def top(self):
        """The lines before #pragma once, but for the licence."""
        number, said = 0, []
        while number < len(self.lines) and self.lines[number].startswith("//"):
            if "SPDX" not in self.lines[number]:
                said.append(self.lines[number][2:].removeprefix(" "))
            number += 1
        self.before[0] = [r"/// \file", *described(said)]
        return number

    def comment(self, number, line):
        column = line.index("//")
        if self.trailing == column and self.in_scope() and not self.head.strip():
            self.instead[number] = line[:column] + "".join(described([line[column + 2:].removeprefix(" ")], "///<"))
            return
        self.trailing = None
        if self.in_scope() and not self.head.strip():
            if not self.block:
                self.last = None
            self.block.append(line[column + 2:].removeprefix(" "))

    def code(self, number, line):
        code, comment = split(line)
        if not self.head.strip():
            self.head, self.head_line = "", number
        was_in_scope = self.in_scope()
        opened = None
        if re.match(r"\s*(public|private|protected):\s*$", code):
            self.block, self.last, self.head = [], None, ""
            return
        begin = self.head_line
        for at, char in enumerate(blanked(code)):
            if char in "([":
                self.head += "(" if char == "(" and self.in_scope() else ""
                self.parens += 1
                continue
            if char in ")]":
                self.parens -= 1
                self.head += ")" if char == ")" and self.in_scope() else ""
                continue
            if char == "{":
                kind = kind_of(self.head) if self.in_scope() else "body"
                if kind == "body" and self.in_scope() and "=" in re.sub(r"operator\s*[^\s(\w]+", "", without_templates(self.head)):
                    kind = "value"
                if self.in_scope() and kind != "value":
                    opened = kind
                    self.declared(begin, kind)
                self.scopes.append(kind)
                if kind in SCOPES:
                    self.head, self.head_line = "", number
                continue
            elif char == "}":
                kind = self.scopes.pop() if self.scopes else "body"
                if kind == "body" and self.in_scope():
                    self.head, self.head_line = "", number
                elif kind in SCOPES:
                    self.head, self.last = "", None
                continue
            elif char == ";" and self.in_scope():
                if self.head.strip():
                    self.declared(begin, "line")
                self.head, begin = "", number
                self.head_line = number
                continue
            if self.in_scope():
                self.head += char
        if self.in_scope():
            self.head += " "
        if self.scopes and self.scopes[-1] == "enum" and opened is None:
            self.declared(number, "enumerator")
            self.head = ""
        self.trailing = None
        if comment is not None:
            self.behind(number, line, code, comment, opened, was_in_scope)

    def declared(self, number, kind):
        """A declaration that begins at this line."""
        name = name_of(self.head) if kind in ("line", "body") else None
        if self.block:
            said = described(self.block)
            self.before[number] = self.before.get(number, []) + said
            self.last = (name, said)
        elif self.last and name and (self.last[0] == name or self.of_c) and number not in self.before:
            self.before[number] = list(self.last[1])
        else:
            self.last = None
        self.block = []

    def behind(self, number, line, code, comment, opened, was_in_scope):
        said = comment.removeprefix(" ")
        if opened in ("class", "enum") and code.rstrip().endswith("{"):
            self.before[number] = self.before.get(number, []) + described([said])
        elif was_in_scope and self.in_scope() and not self.head.strip() and not code.lstrip().startswith("}"):
            self.instead[number] = code + " ".join(described([said], "///<"))
            self.trailing = line.index("//", len(code))

    def each_of_several(self, before, line):
        """Of `int a = 0, b = 0;` Doxygen gives a comment to one: here it is of both."""
        it = re.fullmatch(r"(\s*)([\w:]+(?:<[\w:]+>)?) (\w+(?: = [-:\w.]+|\{\})?(?:, \w+(?: = [-:\w.]+|\{\})?)+);(\s*///<.*)?", line)
        if not it or not (before or it.group(4)):
            return [*before, line]
        behind = (it.group(4) or "").strip()
        return [text for each in it.group(3).split(", ") for text in (*before, f"{it.group(1)}{it.group(2)} {each};  {behind}".rstrip())]

    def text(self):
        found = []
        for number, line in enumerate(self.lines):
            found.extend(self.each_of_several(self.before.get(number, []), self.instead.get(number, line)))
        text = re.sub(r"((?: *///[^\n]*\n)+)?( *(?:inline|static) constexpr [\w:]+ )(\w+ = [^,;{(]+(?:,\s+\w+ = [^;{]+)+);( *///<[^\n]*)?", each_constant, "\n".join(found))
        text = re.sub(r"template <>\nstruct fmt::formatter<.*?\{\};\n", "", text)  # Doxygen has no place for what is in namespace fmt
        return re.sub(r"namespace spotter::inline \w+", "namespace spotter", text)


def each_constant(it):
    """The same of constants that are declared together, on several lines perhaps."""
    above, head, list_of, behind = (part or "" for part in it.groups())
    return "\n".join(f"{above}{head}{each};{behind}" for each in re.split(r",\s+", list_of))


def split(line):
    """Code and trailing comment."""
    at = blanked(line).find("//")
    return (line, None) if at < 0 else (line[:at], line[at + 2:])


def blanked(code):
    """The same length, without what is in texts."""
    return re.sub(r'"(?:[^"\\]|\\.)*"|(?<![0-9a-fA-F])\'(?:[^\'\\]|\\.)+\'', lambda it: '"' + " " * (len(it.group(0)) - 2) + '"', code)


def as_in_cpp(text):
    """A C header whose comments of whole lines, and those behind a declaration, begin with `//`."""
    found, inside = [], False
    for line in text.split("\n"):
        if inside:
            inside = "*/" not in line
            line = re.sub(r"^( *) \* ?", r"\1// ", line).replace("*/", "").rstrip()
        else:
            whole = re.match(r" */\*", line)
            inside = whole is not None and "*/" not in line
            if whole or line.rstrip().endswith("*/"):
                line = line.replace("/*", "//", 1).replace("*/", "").rstrip()
        found.append(line)
    return "\n".join(found)


if __name__ == "__main__":
    source, target = (pathlib.Path(folder) for folder in sys.argv[1:])
    for path in sorted([*source.rglob("*.hpp"), *source.rglob("*.h")]):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        of_c = path.suffix == ".h"
        copy.write_text(header(as_in_cpp(text) if of_c else text, of_c).read(), encoding="utf-8")
