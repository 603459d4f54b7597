#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the pages to files and headings that are not there, and names that are not in the file named with them
(`hook::close` (`hook/hook_bodies.hpp`)): page_links.py ROOT"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(r"`(?:\w+::)*(\w+)`\s+\(`([\w/]+\.(?:hpp|ipp|cpp))`")
SOURCES = ("include/spotter", "include", "tools/workbench")


def anchors(page):
    """As GitHub makes them of headings, and those that a page has itself."""
    yield from re.findall(r'<a id="([^"]+)">', page.read_text(encoding="utf-8"))
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.*)$", text, re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    dead = []
    for page in pages:
        for file, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" in file:
                continue
            to = (page.parent / file).resolve() if file else page
            if not to.exists():
                dead.append(f"{page.relative_to(root)}: there is no {file}")
            elif anchor and to.suffix == ".md" and anchor not in anchors(to):
                dead.append(f"{page.relative_to(root)}: {file or page.name} has no heading #{anchor}")
        for name, file in NAMED.findall(page.read_text(encoding="utf-8")):
            found = [path for path in (root / each / file for each in SOURCES) if path.exists()]
            if not any(re.search(rf"\b{name}\b", path.read_text(encoding="utf-8")) for path in found):
                dead.append(f"{page.relative_to(root)}: {name} is not in {file}")
    print(*dead, f"{len(pages)} pages, {len(dead)} dead links", sep="\n")
    return 1 if dead or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
