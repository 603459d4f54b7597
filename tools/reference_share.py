# SPDX-License-Identifier: Apache-2.0
"""How many public entities have a comment, folder by folder, of what Doxygen read.

    python3 tools/reference_share.py build/reference/xml [--missing FOLDER]

Ends with 1 where a folder has less than it must. Counted are types, concepts, functions, constants, members and aliases that are public and in no
namespace detail; not what is defaulted or deleted, destructors, deduction guides, specialisations, and the members of a rule's contract, which
`spotter/rule/machine.hpp` says what they are of all rules.
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as tree

# The least share in percent: what was reached. Doors (headers right below spotter/) declare next to nothing.
LEAST = {}
REST = 0

CONTRACT = {"kind", "name", "remedy", "state", "needs", "declare", "observe", "close", "judge", "watched", "tell", "extract", "feature_key", "silence",
            "looks", "report", "select", "judged_in", "adapts_rules", "responds"}


def said(entity):
    return any("".join(part.itertext()).strip() for part in (entity.find("briefdescription"), entity.find("detaileddescription")) if part is not None)


def entities(folder):
    """(file, name, whether it has a comment) of each."""
    for path in sorted(folder.glob("*.xml")):
        compound = tree.parse(path).getroot().find("compounddef")
        if compound is None or compound.get("kind") not in ("class", "struct", "union", "concept", "namespace"):
            continue
        owner = compound.findtext("compoundname")
        if "detail" in owner.split("::") or not owner.startswith("spotter"):
            continue
        if compound.get("kind") != "namespace":
            if compound.get("prot", "public") != "public":
                continue
            if "<" not in owner and not is_contract(owner.split("::")[-1], owner):
                yield compound.find("location").get("file"), owner, said(compound)
        overloads = {}
        for member in compound.iter("memberdef"):
            name = member.findtext("name")
            if member.get("prot") != "public" or member.get("kind") == "friend" or not counts(member, name, owner):
                continue
            key = (member.get("kind"), name)
            file, all_said = overloads.get(key, (member.find("location").get("file"), False))
            overloads[key] = (file, all_said or said(member))
        for (_, name), (file, all_said) in overloads.items():
            yield file, f"{owner}::{name}", all_said


def is_contract(name, owner):
    return name in CONTRACT and owner.count("::") > 1


def counts(member, name, owner):
    arguments = member.findtext("argsstring") or ""
    simple = owner.split("::")[-1].split("<")[0]
    return not (arguments.endswith(("=default", "=delete", "= default", "= delete")) or name.startswith("~") or "<" in name or "->" in arguments and name == simple
                or name in CONTRACT and owner != "spotter" or name.startswith("@"))


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
        share = 100 * sum(has for _, _, has in found) / len(found)
        least = LEAST.get(folder, REST)
        short = short or share < least
        print(f"{folder:10} {len(found):5} {share:6.1f} %   {'short of' if share < least else 'at least'} {least}")
    everything = [has for found in of.values() for _, _, has in found]
    print(f"{'all':10} {len(everything):5} {100 * sum(everything) / len(everything):6.1f} %")
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
