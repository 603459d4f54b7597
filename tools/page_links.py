#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the pages to files and headings that are not there, pages and headings that the code names and that are not
there, and names that are not in the file named with them (`hook::close` (`hook/hook_bodies.hpp`)): page_links.py ROOT"""
import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(r"`(?:\w+::)*(\w+)`\s+\(`([\w/]+\.(?:hpp|ipp|cpp))`")
CITED = re.compile(r"docs/[\w/]+\.md(?:#[\w-]+)?")
SOURCES = ("include/spotter", "include", "tools/workbench")
CODE = ("include", "tools", "tests", "bench", "examples", "cmake", ".ci")


def anchors(page):
    """As GitHub makes them of headings, and those that a page has itself."""
    yield from re.findall(r'<a id="([^"]+)">', page.read_text(encoding="utf-8"))
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.*)$", text, re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("bench/**/*.md")]
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
    for path in sorted(path for each in CODE for path in (root / each).rglob("*") if path.is_file()):
        for cited in CITED.findall(path.read_text(encoding="utf-8", errors="ignore")):
            page, _, anchor = cited.partition("#")
            if not (root / page).exists():
                dead.append(f"{path.relative_to(root)}: there is no {page}")
            elif anchor and anchor not in anchors(root / page):
                dead.append(f"{path.relative_to(root)}: {page} has no heading #{anchor}")
    print(*dead, f"{len(pages)} pages, {len(dead)} dead links", sep="\n")
    return 1 if dead or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
