# SPDX-License-Identifier: Apache-2.0
"""Values: stored elements as NumPy has them, and the zstd frames that hold them."""

from __future__ import annotations

from typing import Iterator, List, Tuple

import numpy as np
import zstandard

from .layout import BF16, BLOCK, BOOL, E4M3, E5M2, ZSTD, Malformed


def _small_floats(exponent_bits: int, mantissa_bits: int, infinite: bool) -> np.ndarray:
    """All values of a float of 8 bits; `infinite`: its largest exponent stands for infinities and NaN, else only all ones for NaN."""
    bits = np.arange(256)
    sign, exponent = np.where(bits & 128, -1.0, 1.0), (bits & 127) >> mantissa_bits
    fraction, bias = (bits & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits), (1 << (exponent_bits - 1)) - 1
    values = sign * np.where(exponent > 0, (1 + fraction) * 2.0 ** (exponent - bias), fraction * 2.0 ** (1 - bias))
    largest = exponent == (1 << exponent_bits) - 1
    if infinite:
        values = np.where(largest, np.where(fraction > 0, np.nan, sign * np.inf), values)
    else:
        values = np.where(bits & 127 == 127, np.nan, values)
    return values.astype(np.float32)


_F8 = {E4M3: _small_floats(4, 3, False), E5M2: _small_floats(5, 2, True)}


def decoded(stored: np.ndarray, dtype: int) -> np.ndarray:
    """Stored elements as NumPy has them: bf16 and f8 become float32."""
    if dtype == BOOL:
        return stored != 0
    if dtype == BF16:
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _F8[dtype][stored] if dtype in _F8 else stored


def zstd_frame(data, at: int, end: int) -> Tuple[int, int]:
    """Content size and end of the zstd frame at a place, by its headers. IndexError: it goes on beyond `end`."""
    def number(at, size):
        if at + size > end:
            raise IndexError(at)
        return int.from_bytes(data[at:at + size], "little")

    if number(at, 4) != ZSTD:
        raise Malformed("no zstd frame")
    descriptor = number(at + 4, 1)
    single = descriptor >> 5 & 1
    size = (single, 2, 4, 8)[descriptor >> 6]
    if size == 0 or not descriptor & 4 or descriptor & 0b11011:
        raise Malformed("a zstd frame without content size or checksum, or with a dictionary")
    at += 6 - single
    content = number(at, size) + (256 if size == 2 else 0)
    at, last = at + size, 0
    while not last:
        header = number(at, 3)
        last, block, length = header & 1, header >> 1 & 3, header >> 3
        if block == 3 or length > 1 << 17:
            raise Malformed("a block of a reserved type, or too large")
        at += 3 + (1 if block == 1 else length)
    number(at, 4)
    return content, at + 4


def blocks_of(data: bytes, planes: int, total: int, end: int) -> Iterator[Tuple[int, int, List[Tuple[int, int]]]]:
    """Of a payload of `total` bytes the blocks up to byte `end`: where each begins, how many elements of a plane it has, and where its
    frames are. Nothing is decompressed; what does not fit together is Malformed."""
    at = begin = whole = 0
    try:
        while at < len(data) and (begin < end or end == total):
            contents, frames = set(), []
            for _ in range(planes):
                content, stop = zstd_frame(data, at, len(data))
                contents.add(content)
                frames.append((at, stop))
                at = stop
            block = content * planes
            if block == 0 or block > BLOCK or len(contents) > 1 or (whole and block > whole):
                raise Malformed("blocks of sizes that do not fit together")
            whole = whole or block
            yield begin, content, frames
            begin += block
    except IndexError as why:
        raise Malformed(str(why)) from why
    if begin < end or (end == total and begin != total):
        raise Malformed("values that do not have the size of their shape")


def unpack_block(data, frames: List[Tuple[int, int]], into: np.ndarray, decoder) -> None:
    """The bytes of one block, into an array of elements x planes."""
    try:
        for plane, (start, stop) in enumerate(frames):
            into[:, plane] = np.frombuffer(decoder.decompress(data[start:stop]), np.uint8)
    except (zstandard.ZstdError, ValueError) as why:
        raise Malformed(str(why)) from why


def unpack(data: bytes, planes: int, total: int, first: int, size: int, decoder) -> np.ndarray:
    """Of a payload of `total` bytes `size` from byte `first` on: only the blocks that hold them are decompressed."""
    out = np.empty(size, np.uint8)
    for begin, content, frames in blocks_of(data, planes, total, first + size):
        low, high = max(begin, first), min(begin + content * planes, first + size)
        if low >= high:
            continue
        if high - low == content * planes:
            unpack_block(data, frames, out[low - first:high - first].reshape(content, planes), decoder)
        else:
            values = np.empty((content, planes), np.uint8)
            unpack_block(data, frames, values, decoder)
            out[low - first:high - first] = values.reshape(-1)[low - begin:high - begin]
    return out
