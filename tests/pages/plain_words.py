#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds README.md, CONTRIBUTING.md, SECURITY.md and docs/**.md to plain words: plain_words.py ROOT

A sentence, a table cell, a heading and a list item have at most 30 words, where a piece of code, and a list of such, is one word. A line of text has at most 160 columns;
lines of tables, code, pictures and generated results may be longer. Phrases of the list below are refused on these pages. They are also refused in
the texts that the library, the page and the command line print, and in the // comments of all C++ files of the library, the tools, the examples, the
tests and the benchmarks. Prints file:line for each breach. plain_words.py ROOT PAGE... checks these pages alone.
"""
import pathlib
import re
import sys

MOST_WORDS = 30
MOST_COLUMNS = 160
COMMENTED = ("include/spotter", "tools", "examples", "tests", "bench")
CPP = (".hpp", ".ipp", ".cpp", ".h")

# What is refused, and what to write instead.
BANNED = [
    (r"of which", "one sentence more"),
    (r"whoever", "name the reader"),
    (r"what of (?:it|them)", "name the part"),
    (r"(?:is|are|was|were|be|being|once|not|nothing|both) told", "reported"),
    (r"told (?:by|as|apart|of|once|nothing|the)", "reported, or distinguished"),
    (r"tells? (?:of|apart|nothing)", "reports, or distinguishes"),
    (r"(?:is|are|be) (?:said|meant) (?:of|by)", "active voice"),
    (r"nobody (?:said|says|asked|asks)", "not specified"),
    (r"who (?:asks|wants|looks|points|reads|has|uses|writes|comes|follows|samples|knows) ", "name the reader"),
    (r"for who(?:ever)? ", "name the reader"),
    (r"wants to be", "should be"),
    (r"without loss", "lossless"),
    (r"in vain", "false alarm"),
    (r"(?:is|are|was|were|becomes?) no number", "NaN"),
    (r"value that is no number", "NaN"),
    (r"of so many", "give the number"),
    (r"hears? of", "receives"),
    (r"is had", "exists"),
    (r"come[s]? of it", "the result"),
    (r"gravest?", "severe"),
    (r"infos?\b", "note: the severities are error, warning, note"),
]
BANNED = [(re.compile(rf"\b{phrase}", re.IGNORECASE), instead) for phrase, instead in BANNED]

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


def units(lines):
    """Pieces of text as (number of the first line, text): paragraphs, items, cells, headings. Code and generated results are left out."""
    piece, begun, fenced, results = [], 0, False, False

    def finished():
        nonlocal piece
        if piece:
            yield begun, piece
        piece = []

    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            yield from finished()
            fenced = not fenced
            continue
        if "<!-- results -->" in line or "<!-- /results -->" in line:
            yield from finished()
            results = "<!-- results -->" in line
            continue
        if fenced or results:
            continue
        text = line.strip()
        if not text or text.startswith(("![", "<img", "<!--")):
            yield from finished()
        elif text.startswith("|"):
            yield from finished()
            for cell in re.split(r"(?<!\\)\|", text)[1:-1]:
                yield number, [(number, cell.strip())]
        elif text.startswith("#"):
            yield from finished()
            yield number, [(number, text.lstrip("# "))]
        elif not piece and line.startswith("    "):
            continue  # a drawing or code by indentation
        else:
            if ITEM.match(line):
                yield from finished()
                text = ITEM.sub("", line).strip()
            if not piece:
                begun = number
            piece.append((number, text))
    yield from finished()


def plain(text):
    text = re.sub(r"!\[[^]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[((?:[^]\[]|\[[^]]*\])*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"``.*?``|`[^`]*`", "CODE", text)
    text = re.sub(r"<[^>]*>", " ", text)
    return re.sub(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w|[.?!])\*(?!\w)", "", text)


def joined(piece):
    """The text of a piece with code and places of links made of no letters, and (offset, line) of each of its lines."""
    text, places = "", []
    for number, line in piece:
        places.append((len(text), number))
        text += line + " "
    code = re.compile(r"``.*?``|`[^`]*`|(?<=\])\([^)]*\)")
    return code.sub(lambda found: "`" + "_" * (len(found[0]) - 2) + "`", text), text, places


def sentences(piece):
    """(line, sentence) of a piece. A sentence ends at . ! or ? before a blank."""
    masked, text, places = joined(piece)
    start = 0
    for end in re.finditer(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!\.\.)[.!?][)\"*”]*\s+", masked):
        yield place(places, start), text[start:end.end()].strip()
        start = end.end()
    if text[start:].strip():
        yield place(places, start), text[start:].strip()


def place(places, offset):
    return max(number for begin, number in places if begin <= offset)


def words(sentence):
    listed = re.sub(r"CODE(?:(?:,|;)? (?:and |or )?CODE)+", "CODE", plain(sentence))  # a list of names is one word
    return sum(1 for word in listed.split() if re.search(r"\w", word))


def breaches(page):
    lines = page.read_text(encoding="utf-8").split("\n")
    fenced = results = False
    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            fenced = not fenced
        if "results -->" in line:
            results = "<!-- results -->" in line
        if len(line) > MOST_COLUMNS and not fenced and not results and not line.lstrip().startswith(("|", "![", "<img")):
            yield number, f"{len(line)} columns; {MOST_COLUMNS} are the most"
    for _, piece in units(lines):
        for number, sentence in sentences(piece):
            count = words(sentence)
            if count > MOST_WORDS:
                yield number, f"{count} words in a sentence; {MOST_WORDS} are the most: {' '.join(plain(sentence).split()[:8])} ..."
        masked, _, places = joined(piece)
        for phrase, instead in BANNED:
            for found in phrase.finditer(masked):
                yield place(places, found.start()), f'"{found.group(0).strip()}" is refused: {instead}'


LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def printed(source):
    """Phrases that are refused in the string literals of a C++ file. "info" is a verb of the command line there."""
    for number, line in enumerate(source.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        if line.lstrip().startswith(("//", "*", "#include")):
            continue
        for literal in LITERAL.finditer(line):
            if " " not in literal[1]:
                continue
            for phrase, instead in BANNED[:-1]:
                for found in phrase.finditer(literal[1]):
                    yield number, f'"{found.group(0).strip()}" is refused in a text that is printed: {instead}'


COMMENT = re.compile(r"(?:^|\s)//\s?(.*)$")


def comments(source):
    """Comments of a C++ file, each as its lines: (number, text). Lines that follow each other are one comment."""
    comment = []
    for number, line in enumerate(source.read_text(encoding="utf-8", errors="replace").split("\n"), 1):
        found = COMMENT.search(line)
        if found:
            comment.append((number, found[1]))
        elif comment:
            yield comment
            comment = []


def commented(source):
    """Phrases that are refused in the comments of a C++ file. `info` is a severity's name in code."""
    for comment in comments(source):
        masked, _, places = joined(comment)
        for phrase, instead in BANNED[:-1]:
            for found in phrase.finditer(masked):
                yield place(places, found.start()), f'"{found.group(0).strip()}" is refused in a comment: {instead}'


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    pages = [*(root / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *sorted(root.glob("docs/**/*.md"))]
    if len(sys.argv) > 2:
        pages = [page for page in pages if str(page.relative_to(root)) in sys.argv[2:]]
    count = 0
    for page in pages:
        for number, what in sorted(set(breaches(page))):
            print(f"{page.relative_to(root)}:{number}: {what}")
            count += 1
    whole = len(sys.argv) <= 2
    sources = [path for top in COMMENTED for path in sorted((root / top).rglob("*")) if path.suffix in CPP] if whole else []
    for source in sources:
        prints = source.relative_to(root).parts[0] in ("include", "tools")
        for number, what in sorted({*commented(source), *(printed(source) if prints else ())}):
            print(f"{source.relative_to(root)}:{number}: {what}")
            count += 1
    print(f"{len(pages)} pages, {len(sources)} sources, {count} breaches")
    return 1 if count or not pages or (whole and not sources) else 0


if __name__ == "__main__":
    sys.exit(main())
