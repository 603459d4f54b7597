# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package spotter (tools/python/spotter) share. Ends the program with 2 where NumPy or zstandard is missing."""

import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools" / "python"))
try:
    import numpy as np
    import spotter  # noqa: F401
except ImportError as error:
    print(f"{error.name} is missing: python3-numpy and python3-zstandard are needed", file=sys.stderr)
    sys.exit(2)

GOLDEN = sorted((SOURCE / "tests" / "golden" / "runs").iterdir())


def same(a, b):
    """Doubles by their bits, any NaN like another."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return a.shape == b.shape and bool(np.all((a.view(np.uint64) == b.view(np.uint64)) | (np.isnan(a) & np.isnan(b))))
