#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other codecs of PyPI make of the tensors of bench_codec, on one thread, in pieces of 4 MiB: spotter's of 256 KiB are too small for some.

    bench_codec --write FOLDER
    pip install numpy blosc2 pcodec openzl
    codec_peers.py FOLDER

A line a tensor: ratio @ MB/s packed (MB/s read) of each, by the thread's processor; the fastest of three rounds. What is read back is
compared.
"""

import sys
import time
from pathlib import Path

import blosc2
import numpy as np
import openzl.ext as zl
from pcodec import ChunkConfig, standalone

PIECE, ROUNDS = 4 << 20, 3
TYPES = {"f32": "<f4", "bf16": "<u2", "f16": "<f2", "i8": "i1"}


def with_blosc2(kind):
    shuffled = dict(typesize=np.dtype(TYPES[kind]).itemsize, codec=blosc2.Codec.ZSTD, clevel=1, filter=blosc2.Filter.SHUFFLE)
    return lambda piece: blosc2.compress(piece, **shuffled), lambda packed: np.frombuffer(blosc2.decompress(packed), TYPES[kind])


def with_pcodec(kind):
    config = ChunkConfig(enable_8_bit=kind == "i8")
    return lambda piece: standalone.simple_compress(piece, config), standalone.simple_decompress


def with_openzl(kind):
    """Of floats the exponents apart, entropy-coded, which is better for all of these than what it chooses itself; the rest it chooses."""
    compressor = zl.Compressor()
    compressor.set_parameter(zl.CParam.FormatVersion, zl.MAX_FORMAT_VERSION)
    rest, entropy = zl.graphs.Compress().parameterize(compressor), zl.graphs.Entropy().parameterize(compressor)
    apart = {"f32": zl.nodes.Float32Deconstruct, "bf16": zl.nodes.BFloat16Deconstruct, "f16": zl.nodes.Float16Deconstruct}.get(kind)
    compressor.select_starting_graph(compressor.build_static_graph(apart().base_node, [rest, entropy]) if apart else rest)
    packer, reader = zl.CCtx(), zl.DCtx()
    packer.set_parameter(zl.CParam.StickyParameters, 1)
    packer.ref_compressor(compressor)
    bits = f"u{np.dtype(TYPES[kind]).itemsize}"
    return (lambda piece: packer.compress([zl.Input(zl.Type.Numeric, piece.view(bits))]),
            lambda packed: reader.decompress(packed)[0].content.as_nparray().copy())


def measure(values, pack, unpack):
    count = PIECE // values.itemsize
    pieces = [values[at:at + count] for at in range(0, len(values), count)]
    packing = reading = float("inf")
    for _ in range(ROUNDS):
        start = time.thread_time()
        packed = [pack(piece) for piece in pieces]
        middle = time.thread_time()
        found = [unpack(each) for each in packed]
        packing, reading = min(packing, middle - start), min(reading, time.thread_time() - middle)
    if any(a.tobytes() != b.tobytes() for a, b in zip(pieces, found)):
        raise SystemExit("what was read is not what was packed")
    size, rate = values.nbytes, 1e-6 * values.nbytes
    return f"{size / sum(map(len, packed)):.3f} @ {rate / packing:.0f} ({rate / reading:.0f})"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__)
        return 1
    blosc2.set_nthreads(1)
    for path in sorted(Path(arguments[0]).iterdir()):
        kind = path.name.rsplit(" ", 1)[-1]
        values = np.fromfile(path, TYPES[kind])
        each = (f"{name} {measure(values, *make(kind))}" for name, make in
                (("blosc2", with_blosc2), ("pcodec", with_pcodec), ("OpenZL", with_openzl)))
        print(f"{path.name}:", " | ".join(each), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
