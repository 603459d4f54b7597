# SPDX-License-Identifier: Apache-2.0
"""How many public entities have a comment, folder by folder, of what Doxygen read.

    python3 tools/reference_share.py build/reference/xml [--missing FOLDER]

Ends with 1 where a folder has less than it must. Counted are types, concepts, functions (of one name once), constants, members and aliases that are
public and in no namespace detail; of a header for C its functions, types and macros. A constructor, a call operator and the members of a union are
said by their type's comment, an override by that of what it overrides.
Not counted: what is defaulted or deleted, destructors, deduction guides, specialisations; names that mean what they mean in the standard library; and
the members of a rule's or a cure's contract, of which `spotter/rule/machine.hpp`, `rule/builtin/judging.hpp` and `act/cures.hpp` say what they are
in all of them, with what a state holds, and the parts that stand for one.
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as tree

LEAST = 97  # percent, of each folder; but of a small one two may lack a comment

CONTRACT = {"kind", "name", "remedy", "state", "needs", "declare", "observe", "close", "judge", "watched", "tell", "extract", "feature_key", "silence",
            "looks", "report", "select", "judged_in", "adapts_rules", "responds", "context", "malformed", "extracts_from_memory", "gap",
            "kept", "softens", "counts_patience", "not_finite", "by_majority", "prepare", "scratch", "short_of_memory", "reads_times",
            "sagemaker_defaults", "acts", "follow", "times", "until", "watches_units", "is_routine"}
STATES = {"state", "kept", "scratch"}
# Types that do what another one does, of which is said what: the hook that compiles to nothing, sinks, machines, what makes a tensor of a type.
ALL_AS_SAID = {"null_hook"}
SINKS = {"null_sink", "recorder", "run_producer", "flight_recorder"}
SINK = {"start", "finish", "flush", "health", "path", "scalar", "feature", "stamp", "leave", "wants_all"}
MACHINE = {"due", "malformed", "poll", "polls", "reads_times", "machine"}
STANDARD = {"begin", "end", "size", "empty", "data", "clear", "push_back", "front", "back", "reserve", "swap", "what", "difference_type", "value_type",
            "reference", "pointer", "iterator_category", "iterator_concept", "operator*", "operator->", "operator++", "operator--", "operator==",
            "operator!=", "operator<=>", "operator=", "operator[]", "operator bool"}


def said(entity):
    return any("".join(part.itertext()).strip() for part in (entity.find("briefdescription"), entity.find("detaileddescription")) if part is not None)


def entities(folder):
    """(file, name, whether it has a comment) of each."""
    for path in sorted(folder.glob("*.xml")):
        compound = tree.parse(path).getroot().find("compounddef")
        if compound is not None and compound.get("kind") == "file":
            yield from of_c(compound)
        if compound is None or compound.get("kind") not in ("class", "struct", "union", "concept", "namespace"):
            continue
        owner = compound.findtext("compoundname")
        if ({"detail"} | STATES) & set(owner.split("::")) or not owner.startswith("spotter"):
            continue
        if compound.get("kind") != "namespace":
            if compound.get("prot", "public") != "public":
                continue
            if "<" not in owner and not is_contract(owner.split("::")[-1], owner):
                yield compound.find("location").get("file"), owner, said(compound)
        type_is_said = compound.get("kind") != "namespace" and said(compound)
        by_union = type_is_said and compound.get("kind") == "union"
        overloads = {}
        for member in compound.iter("memberdef"):
            name = member.findtext("name")
            if member.get("prot") != "public" or member.get("kind") == "friend" or not counts(member, name, owner):
                continue
            key = (member.get("kind"), name)
            file, all_said = overloads.get(key, (member.find("location").get("file"), False))
            by_type = by_union or type_is_said and (name == "operator()" or name == owner.split("::")[-1].split("<")[0].strip())
            overloads[key] = (file, all_said or said(member) or by_type or member.find("reimplements") is not None)
        for (_, name), (file, all_said) in overloads.items():
            yield file, f"{owner}::{name}", all_said


def of_c(compound):
    """What a header for C declares in no namespace."""
    file = compound.find("location").get("file")
    for member in compound.iter("memberdef"):
        name = member.findtext("name")
        if file.endswith(".h") and name.lower().startswith("spotter_") and not name.endswith(("_H", "INT64")):
            yield file, name, said(member)


def is_contract(name, owner):
    return name in CONTRACT and owner.count("::") > 1


def counts(member, name, owner):
    arguments = member.findtext("argsstring") or ""
    simple = owner.removeprefix("spotter::").split("<")[0].split("::")[-1].strip()
    return not (arguments.endswith(("=default", "=delete", "= default", "= delete")) or name.startswith("~") or "<" in name
                or name.endswith("_")  # private; of an unnamed union Doxygen does not know it
                or "->" in arguments and not (member.findtext("type") or "").strip()  # a deduction guide
                or simple in ALL_AS_SAID or simple in SINKS and name in SINK
                or simple == "machine" and name in MACHINE
                or simple in ("tensor_access", "tensor_from") and name in ("view", "offer", "make")
                or name in CONTRACT and owner != "spotter" or name in STANDARD or name.startswith("@"))


def main():
    of = collections.defaultdict(list)
    for file, name, has in entities(pathlib.Path(sys.argv[1])):
        parts = pathlib.PurePath(file).parts
        below = parts[parts.index("spotter") + 1:] if "spotter" in parts else parts
        of[below[0] if len(below) > 1 else "."].append((file, name, has))
    if "--missing" in sys.argv:
        for file, name, has in sorted(of[sys.argv[-1]]):
            if not has:
                print(f"{file}: {name}")
        return 0
    short = False
    for folder, found in sorted(of.items()):
        missing = sum(not has for _, _, has in found)
        share = 100 * (len(found) - missing) / len(found)
        falls_short = share < LEAST and missing > 2
        short = short or falls_short
        print(f"{folder:10} {len(found):5} {share:6.1f} %{f'   short of {LEAST}' if falls_short else ''}")
    everything = [has for found in of.values() for _, _, has in found]
    print(f"{'all':10} {len(everything):5} {100 * sum(everything) / len(everything):6.1f} %")
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
