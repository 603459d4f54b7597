#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the package spotter reads values, and what follows from them.

    bench_python_values FOLDER && python3 bench/python_values.py FOLDER

The files are in the system's cache; each figure is of the processor's time, the best of nine freshly opened runs.
"""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools" / "python"))
import numpy as np
import zstandard
from spotter import open_trial

ROUNDS = 9


def time_of(path, question):
    """Seconds that a question of one freshly opened run takes, and what it answered."""
    times, answer = [], None
    for _ in range(ROUNDS):
        run = open_trial(path)
        run.steps()
        begun = time.process_time()
        answer = question(run)
        times.append(time.process_time() - begun)
    return min(times), answer


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, zstandard {zstandard.__version__}")
    for kind in ("large", "small"):
        info, steps = open_trial(folder / kind)["layer0/w"].info, len(open_trial(folder / kind)["layer0/w"].steps())
        size = 4 * steps * int(np.prod(info.shape))
        print(f"{kind}: f32 {list(info.shape)} at {steps} steps, values alone")
        seconds, _ = time_of(folder / kind, lambda run: sum(value[0] for _, value in run["layer0/w"].values()))
        print(f"  values                     {1e-9 * size / seconds:8.3f} GB/s")
        for name in ("mean", "l2", "maximum_abs", "nonfinite", "stddev", "zero_fraction"):
            seconds, _ = time_of(folder / kind, lambda run: run["layer0/w"].history(name))
            print(f"  history of {name:15} {1e-9 * size / seconds:8.3f} GB/s")
        run = open_trial(folder / kind)
        run["layer0/w"].history("stddev")
        begun = time.process_time()
        run["layer0/w"].history("mean")
        print(f"  one that is known already  {1e3 * (time.process_time() - begun):8.3f} ms")
    names = open_trial(folder / "many").names()
    seconds, sizes = time_of(folder / "many", lambda run: sum(run[name].value(1).size for name in names))
    print(f"{len(names)} tensors at one step: all values {seconds:.3f} s, {sizes} elements")
    seconds, _ = time_of(folder / "many", lambda run: [run[name].stat(1, "l2") for name in names])
    print(f"{len(names)} tensors at one step: l2 of each {seconds:.3f} s")


if __name__ == "__main__":
    main()
