#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what bench_growth wrote: of each thing that grows a log-log panel of times and one of memory, in one SVG.

    bench_growth growth.csv && python3 growth_picture.py growth.csv growth.svg
"""
import csv
import math
import sys
from xml.sax.saxutils import escape

# What grows, the unit and base of its ticks, and of what the time is.
PANELS = {
    "hooks": ("hooks, each with a thread of its own", "", 2, "of a step of one of them"),
    "tensors": ("tensors a step, 64 B each", "", 10, "of a step"),
    "bytes": ("bytes of one tensor", "bytes", 4, "of a step"),
    "rules": ("rules that look at one tensor", "", 10, "of a step"),
    "steps": ("steps recorded in the same run", "", 10, "of a step"),
    "workers": ("workers of a run", "", 10, "to open it"),
}
COLOURS = ["#1b6ca8", "#c8553d", "#3a7d44"]
WIDTH, HEIGHT = 420, 250  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 66, 22, 30, 46
UNITS = {
    "ns": [(1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1, " ns")],
    "bytes": [(1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"), (1, " B")],
    "": [(1e6, " M"), (1e3, " k"), (1, "")],
}


def short(value, unit):
    """1000 -> 1 k; bytes in KiB and MiB; nanoseconds in ns, µs, ms and s."""
    for size, name in UNITS[unit]:
        if value >= size:
            return f"{value / size:g}{name}"
    return f"{value:g}"


def ticks(low, high, base):
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / 7))
    return [base**k for k in range(first, last + 1, every)]


def panel(title, axis, series, colours, x0, y0, x_unit, x_base, y_unit, y_base):
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    x_range = min(xs), max(xs)
    # Whole powers, and room above for the names of the lines.
    low, high = math.floor(math.log(min(ys), y_base)), math.ceil(math.log(max(ys), y_base))
    y_range = y_base**low, y_base ** (high + (high - low) * 0.08 * (len(series) + 1))
    left, right, top, bottom = x0 + LEFT, x0 + WIDTH - RIGHT, y0 + TOP, y0 + HEIGHT - BOTTOM

    def place(value, ends, of):
        return ends[0] + (ends[1] - ends[0]) * math.log(value / of[0]) / math.log(of[1] / of[0])

    def across(x):
        return place(x, (left, right), x_range)

    def up(y):
        return place(y, (bottom, top), y_range)

    out = [f'<text class="title" x="{left}" y="{top - 9}">{escape(title)}</text>']
    for y in ticks(*y_range, y_base):
        out.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{up(y):.1f}" y2="{up(y):.1f}"/>')
        out.append(f'<text class="tick" x="{left - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{short(y, y_unit)}</text>')
    for x in ticks(*x_range, x_base):
        out.append(f'<line class="grid" x1="{across(x):.1f}" x2="{across(x):.1f}" y1="{top}" y2="{bottom}"/>')
        out.append(f'<text class="tick" x="{across(x):.1f}" y="{bottom + 16}" text-anchor="middle">{short(x, x_unit)}</text>')
    out.append(f'<text class="axis" x="{(left + right) / 2}" y="{bottom + 34}" text-anchor="middle">{escape(axis)}</text>')
    for i, (label, points) in enumerate(series.items()):
        colour = colours[label]
        line = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="2.4" fill="{colour}"/>' for x, y in points]
        out.append(f'<rect x="{left + 8}" y="{top + 8 + 15 * i}" width="12" height="3" fill="{colour}"/>')
        out.append(f'<text class="tick" x="{left + 25}" y="{top + 13 + 15 * i}">{escape(label)}</text>')
    return out


def main(source, target):
    times = {name: {} for name in PANELS}
    memory = {name: {} for name in PANELS}
    with open(source, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for into, value in ((times, row["nanoseconds"]), (memory, row["bytes"])):
                if float(value) > 0:  # a memcpy has no memory of its own
                    into[row["panel"]].setdefault(row["series"], []).append((float(row["x"]), float(value)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {len(PANELS) * HEIGHT + 36}" font-family="sans-serif">',
        "<style>.grid{stroke:#ddd;stroke-width:.7}.tick{font-size:11px;fill:#333}.axis{font-size:12px;fill:#111}"
        ".title{font-size:12px;font-weight:bold;fill:#111}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{WIDTH}" y="22" text-anchor="middle" font-size="14">'
        "What grows with what: processor time of the calling thread, and the process's memory, rings aside</text>",
    ]
    for i, (name, (axis, unit, base, of_what)) in enumerate(PANELS.items()):
        y0 = 32 + i * HEIGHT
        colours = dict(zip(times[name], COLOURS))  # the same in both panels
        if times[name]:
            lines += panel(f"time {of_what}", axis, times[name], colours, 0, y0, unit, base, "ns", 10)
        if memory[name]:
            lines += panel("memory", axis, memory[name], colours, WIDTH, y0, unit, base, "bytes", 4)
    lines.append("</svg>\n")
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
