# SPDX-License-Identifier: Apache-2.0
"""The one list of rules (include/spotter/rule/list.hpp) against what has to be there for each of them.

    python3 tools/rule_list.py [--write] [the project's folder]

A rule is a line of the list, a header of its name with it and no other, and a section of docs/rules.md. catalogue.hpp is made of the list:
`--write` writes it. Nothing else in include/ and tools/ may name a rule by a text: a rule that is renamed has to break who asks for it. Prints
one line a breach and ends with 1 if there is one.
"""
import pathlib
import re
import sys

ENTRY = re.compile(r"^\s+of\((\w+)\)", re.M)
RULE = re.compile(r"\bstruct (\w+) \{\s+using kind = rule_kind;\s+static constexpr std::string_view name = \"(\w+)\";")
FORWARD = re.compile(r"^// Forwards\b", re.M)
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
COMPARED = re.compile(r'\b(rule|reason)\b *[!=]= *"')
GLOBS = re.compile(r'\bglob rules =\s*((?://.*\n|\s|"[^"]*")*?"[^"]*")')

CATALOGUE = """// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): all of them. docs/rules.md. Written by tools/rule_list.py out of rule/list.hpp.
#pragma once

#include <spotter/rule/list.hpp>

{includes}

namespace spotter::inline SPOTTER_ABI::detail {{

// Calls use(rule) for each, with its defaults.
template <class Use>
constexpr void each_built_in_rule(Use&& use) {{
#define SPOTTER_USE(which)                                                                                             \\
    static_assert(rule_id_of<which> == rule_id::which, "a rule has the name of its struct");                           \\
    use(which{{}});
    SPOTTER_EACH_RULE(SPOTTER_USE)
#undef SPOTTER_USE
}}

}}  // namespace spotter::inline SPOTTER_ABI::detail
"""


def lists(text):
    """The rules, and what else tells findings."""
    rules, others = text.split("#define SPOTTER_EACH_OTHER_TELLER")
    return ENTRY.findall(rules), ENTRY.findall(others)


def catalogue_of(rules):
    return CATALOGUE.format(includes="\n".join(f"#include <spotter/rule/builtin/{each}.hpp>" for each in rules))


def breaches_of_headers(folder, rules):
    for header in sorted(folder.glob("*.hpp")):
        text = header.read_text()
        if FORWARD.search(text):
            continue
        found = RULE.findall(text)
        if len(found) > 1:
            yield f"{header}:1: holds {len(found)} rules; each has its own header"
        for struct, name in found:
            if struct != name or header.stem != name:
                yield f"{header}:1: the rule `{struct}` has the name \"{name}\"; header, struct and name are one word"
            if name not in rules:
                yield f"{header}:1: `{name}` is not in rule/list.hpp"
        if header.stem in rules and not found:
            yield f"{header}:1: holds no rule of that name"
    for each in rules:
        if not (folder / f"{each}.hpp").is_file():
            yield f"{folder}/{each}.hpp:1: is not there, and in rule/list.hpp is `{each}`"


def breaches_of_page(page, rules):
    text = page.read_text()
    sections = set(re.findall(r"^### (\w+)$", text, re.M))
    for each in rules:
        if each not in sections:
            yield f"{page}:1: no section `### {each}`"
        if f"[{each}](#{each})" not in text:
            yield f"{page}:1: the table of the catalogue has no `[{each}](#{each})`"
    for each in sorted(sections - set(rules)):
        yield f"{page}:1: the section `### {each}` is of no rule of rule/list.hpp"


def breaches_of_texts(root, own, known):
    """A rule named by a text, but in its own header; and a pattern of names that has one that no rule has."""
    for path in sorted([*(root / "include").rglob("*.?pp"), *(root / "tools").rglob("*.?pp")]):
        text = path.read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            for each in TEXT.findall(line.split("//")[0]):
                if each in known and not (path.parent == own and path.stem == each) and "glob rules" not in line:
                    yield f'{path}:{number}: "{each}" is a rule by its text: ask for rule_id::{each}, or name_of() it'
            if COMPARED.search(line):
                yield f"{path}:{number}: a rule or its reason is compared with a text: ask finding.id, or finding.is<Rule>(condition)"
        for match in GLOBS.finditer(text):
            for each in re.findall(r"\w+", "".join(TEXT.findall(match[1]))):
                if each not in known:
                    yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {each} is no rule of rule/list.hpp"


def main():
    words = [each for each in sys.argv[1:] if each != "--write"]
    root = pathlib.Path(words[0] if words else ".")
    folder = root / "include" / "spotter" / "rule" / "builtin"
    rules, others = lists((root / "include" / "spotter" / "rule" / "list.hpp").read_text())
    catalogue = folder / "catalogue.hpp"
    found = []
    for each in (rules, others):
        if each != sorted(set(each)):
            found.append("include/spotter/rule/list.hpp:1: not by the alphabet, or one twice")
    if "--write" in sys.argv:
        catalogue.write_text(catalogue_of(rules))
    elif catalogue.read_text() != catalogue_of(rules):
        found.append(f"{catalogue}:1: not as the list has it: python3 tools/rule_list.py --write")
    found += breaches_of_headers(folder, rules)
    found += breaches_of_page(root / "docs" / "rules.md", rules)
    found += breaches_of_texts(root, folder, set(rules) | set(others))
    print("\n".join(found + [f"{len(rules)} rules, {len(found)} breaches"]))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
