#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what bench_growth wrote: four small log-log panels in one SVG.

    bench_growth growth.csv && python3 growth_picture.py growth.csv growth.svg
"""
import csv
import math
import sys
from xml.sax.saxutils import escape

PANELS = {
    "tensors": ("tensors a step, 64 B each", "{}"),
    "bytes": ("bytes of one tensor", "bytes"),
    "rules": ("rules that look at one tensor", "{}"),
    "age": ("steps recorded before", "{}"),
}
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44"]
WIDTH, HEIGHT = 400, 270  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 20, 34, 44


def short(value, unit):
    """1000 -> 1 k; bytes in KiB and MiB; nanoseconds in ns, us and ms."""
    if unit == "ns":
        steps = [(1e6, " ms"), (1e3, " µs"), (1, " ns")]
    elif unit == "bytes":
        steps = [(1 << 20, " MiB"), (1 << 10, " KiB"), (1, " B")]
    else:
        steps = [(1e6, " M"), (1e3, " k"), (1, "")]
    for size, name in steps:
        if value >= size:
            return f"{value / size:g}{name}"
    return f"{value:g}"


def ticks(low, high, base):
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / 7))
    return [base**k for k in range(first, last + 1, every)]


def panel(name, series, x0, y0, y_range):
    title, unit = PANELS[name]
    xs = [x for points in series.values() for x, _ in points]
    x_range = min(xs), max(xs)
    base = {"bytes": 4, "rules": 2}.get(name, 10)
    left, right = x0 + LEFT, x0 + WIDTH - RIGHT
    top, bottom = y0 + TOP, y0 + HEIGHT - BOTTOM

    def across(x):
        return left + (right - left) * math.log(x / x_range[0]) / math.log(x_range[1] / x_range[0])

    def up(y):
        return bottom - (bottom - top) * math.log(y / y_range[0]) / math.log(y_range[1] / y_range[0])

    out = []
    for y in ticks(*y_range, 10):
        out.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{up(y):.1f}" y2="{up(y):.1f}"/>')
        out.append(f'<text class="tick" x="{left - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{short(y, "ns")}</text>')
    for x in ticks(*x_range, base):
        out.append(f'<line class="grid" x1="{across(x):.1f}" x2="{across(x):.1f}" y1="{top}" y2="{bottom}"/>')
        out.append(f'<text class="tick" x="{across(x):.1f}" y="{bottom + 16}" text-anchor="middle">{short(x, unit)}</text>')
    out.append(f'<text class="axis" x="{(left + right) / 2}" y="{bottom + 34}" text-anchor="middle">{escape(title)}</text>')
    for i, (label, points) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        line = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="2.4" fill="{colour}"/>' for x, y in points]
        out.append(f'<rect x="{left + 8}" y="{top + 8 + 15 * i}" width="12" height="3" fill="{colour}"/>')
        out.append(f'<text class="tick" x="{left + 25}" y="{top + 13 + 15 * i}">{escape(label)}</text>')
    return out


def main(source, target):
    panels = {name: {} for name in PANELS}
    with open(source, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            points = panels[row["panel"]].setdefault(row["series"], [])
            points.append((float(row["x"]), float(row["nanoseconds"])))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT + 24}" font-family="sans-serif">',
        "<style>.grid{stroke:#ddd;stroke-width:.7}.tick{font-size:11px;fill:#333}.axis{font-size:12px;fill:#111}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{WIDTH}" y="20" text-anchor="middle" font-size="14">'
        "What a step costs the training thread (processor time of the thread)</text>",
    ]
    for i, (name, series) in enumerate(panels.items()):
        if not series:
            continue
        ys = [y for points in series.values() for _, y in points]
        # Whole decades, and one more above, where the names of the lines are.
        y_range = 10 ** math.floor(math.log10(min(ys))), 10 ** (math.ceil(math.log10(max(ys))) + 1)
        lines += panel(name, series, i % 2 * WIDTH, 14 + i // 2 * HEIGHT, y_range)
    lines.append("</svg>\n")
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
