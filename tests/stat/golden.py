# SPDX-License-Identifier: Apache-2.0
"""Prints the table in golden.cpp: the sums as docs/internals/stat.md defines them, in Python's doubles, for the same random tensors."""
import struct

MASK = (1 << 64) - 1


def splitmix(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def special(i):
    if 2048 <= i < 3072:
        for name, step, rest in (("nan", 97, 13), ("-inf", 101, 7), ("zero", 53, 5), ("subnormal", 89, 3)):
            if i % step == rest:
                return name
    return None


def tensor(kind, count):
    """The bits of the elements, and their values (a word for one that is not finite)."""
    random = splitmix(count * 10 + {"f32": 1, "f64": 2, "i32": 3, "bf16": 4}[kind])
    raw, values = b"", []
    for i in range(count):
        u = next(random)
        which = None if kind == "i32" else special(i)
        if kind == "f32":
            bits = {"nan": 0x7FC00000, "-inf": 0xFF800000, "zero": 0x80000000, "subnormal": 0x80012345}.get(which)
            each = struct.pack("<f", ((u >> 40) - (1 << 23)) * 2.0**-18) if bits is None else struct.pack("<I", bits)
            value = struct.unpack("<f", each)[0]
        elif kind == "f64":
            bits = {"nan": 0x7FF8 << 48, "-inf": 0xFFF0 << 48, "zero": 0x8000 << 48}.get(which)
            each = struct.pack("<d", ((u >> 11) - (1 << 52)) * 2.0**-50) if bits is None else struct.pack("<Q", bits)
            value = struct.unpack("<d", each)[0]
        elif kind == "i32":
            each = struct.pack("<I", u >> 32)
            value = float(struct.unpack("<i", each)[0])
        else:
            bits = {"nan": 0x7FC0, "-inf": 0xFF80, "zero": 0x8000, "subnormal": 0x8023}.get(which)
            if bits is None:
                bits = (u >> 63) << 15 | (120 + (u >> 56 & 15)) << 7 | (u >> 40 & 0x7F)
            each = struct.pack("<H", bits)
            value = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
        raw += each
        values.append(which if which in ("nan", "-inf") else value)
    return raw, values


def fold(lanes):
    lanes, width = lanes[:], 8
    while width > 0:
        for i in range(width):
            lanes[i] += lanes[i + width]
        width //= 2
    return lanes[0]


def lanes_of(block, f):
    lanes = [0.0] * 16
    for i, x in enumerate(block):
        if not isinstance(x, str):
            lanes[i % 16] += f(x)
    return lanes


def statistics(values):
    plain, sizes, squares = [0.0] * 16, [0.0] * 16, [0.0] * 16
    count = mean = about = 0.0
    for start in range(0, len(values), 1024):
        block = values[start:start + 1024]
        finite = float(sum(not isinstance(x, str) for x in block))
        for total, f in ((plain, lambda x: x), (sizes, abs), (squares, lambda x: x * x)):
            for i, lane in enumerate(lanes_of(block, f)):
                total[i] += lane
        if finite > 0:
            centre = fold(lanes_of(block, lambda x: x)) / finite
            total = count + finite
            gap = centre - mean
            mean += gap * (finite / total)
            about += fold(lanes_of(block, lambda x: (x - centre) * (x - centre))) + gap * gap * (count * finite / total)
            count = total
    finite = [x for x in values if not isinstance(x, str)]
    return fold(plain), fold(sizes), fold(squares), about, min(finite), max(finite)


def hash_of(raw):
    odd, size = 0x9E3779B97F4A7C15, len(raw)

    def mix(a, word):
        product = ((a ^ word) * odd) & MASK
        return ((product << 29) | (product >> 35)) & MASK

    chain = [size * odd & MASK, ~size & MASK, (size + odd) & MASK, odd]
    for i in range(0, size, 8):
        chain[i // 8 % 4] = mix(chain[i // 8 % 4], int.from_bytes(raw[i:i + 8], "little"))
    result = mix(mix(chain[0], chain[1]), mix(chain[2], chain[3]))
    result = (result ^ result >> 32) * 0xD6E8FEB86659FD93 & MASK
    return result ^ result >> 32


def literal(x):
    mantissa, power = x.hex().split("p")
    return mantissa.rstrip("0").rstrip(".").replace("0x", "0x") + "p" + power if x else "0"


for kind in ("f32", "f64", "i32", "bf16"):
    for count in (1, 17, 1000, 1025, 5000):
        raw, values = tensor(kind, count)
        print("    {dtype::%s, %d, 0x%016X,\n     {%s}}," % (kind, count, hash_of(raw), ", ".join(map(literal, statistics(values)))))
