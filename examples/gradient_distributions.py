#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws how the gradients of a run are distributed, over time: one panel a tensor, from the least to the largest value, the median in the
middle. Works on a run that is still being written.

    gradient_distributions.py RUN [PICTURE.png] [PATTERN]        PATTERN: grad/* unless given

Needs matplotlib beside NumPy and zstandard. For a notebook: the body of `draw` is one cell.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools" / "python"))  # where the file lies in the repository

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from spotter import QUANTILE_LEVELS, NotInStep, open_trial

BANDS = ((0, 1, 0.15), (0.01, 0.99, 0.25), (0.1, 0.9, 0.35), (0.25, 0.75, 0.5))  # from level to level, how dark


def quantiles_over_time(track, mode="train"):
    """Step indices, and a row of quantiles for each: of those steps whose values, or quantiles, were kept."""
    steps, rows = [], []
    for step in track.payload_steps(mode) or track.steps(mode):
        try:
            rows.append(track.distribution(step, histogram=False).quantiles)
            steps.append(step.index)
        except NotInStep:  # no element was finite
            continue
    return np.array(steps), np.array(rows).reshape(-1, len(QUANTILE_LEVELS))


def draw(run, pattern):
    names = run.names(pattern, mode="train")
    if not names:
        sys.exit(f"{run.path} has no name like {pattern}: {', '.join(run.names())}")
    columns = min(len(names), 2)
    rows = -(-len(names) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(6 * columns, 2.6 * rows), sharex=True, squeeze=False, layout="constrained")
    for axis, name in zip(axes.flat, names):
        steps, quantiles = quantiles_over_time(run[name])
        level = {round(each, 3): quantiles[:, i] for i, each in enumerate(QUANTILE_LEVELS)}
        for low, high, darkness in BANDS:
            axis.fill_between(steps, level[low], level[high], color="tab:blue", alpha=darkness, linewidth=0)
        axis.plot(steps, level[0.5], color="black", linewidth=0.8)
        usual = float(np.median(np.abs(quantiles[:, 4:-4]))) or 1e-12
        axis.set_yscale("symlog", linthresh=10 ** np.ceil(np.log10(usual)))  # gradients span decades
        axis.set_title(f"{name}  {'x'.join(map(str, run[name].info.shape))}", fontsize=9)
        axis.tick_params(labelsize=7)
    for axis in list(axes.flat)[len(names):]:
        axis.set_visible(False)
    figure.supxlabel("step of train", fontsize=9)
    figure.suptitle(f"{run.path}: least to largest, 1 to 99 %, 10 to 90 %, 25 to 75 %, median", fontsize=10)
    return figure


def main(words):
    if not words or words[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if words else 2
    picture = words[1] if len(words) > 1 else "gradients.png"
    draw(open_trial(words[0]), words[2] if len(words) > 2 else "grad/*").savefig(picture, dpi=130)
    print(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
