# SPDX-License-Identifier: Apache-2.0
"""Values: stored elements as NumPy has them, and the zstd frames that hold them."""

from __future__ import annotations

from typing import Iterator, List, NamedTuple, Optional, Tuple

import numpy as np
import zstandard

from .layout import BF16, BLOCK, BOOL, E4M3, E5M2, MASKED, PLANES, ROTATED, ZSTD, Malformed


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


def _mask(said: np.ndarray) -> Optional[np.ndarray]:
    """Of each value of a block whether it stands; None: all do."""
    if said[-1] == 0:
        if len(said) > 1:
            raise Malformed("a mask without an end")
        return None
    bits = np.unpackbits(said, bitorder="little")
    return bits[:len(bits) - 1 - np.argmax(bits[::-1])] != 0


class Block(NamedTuple):
    """Where the values of a block are."""
    begin: int  # byte of the payload
    length: int  # in values
    mask: Optional[np.ndarray]
    frames: List[Tuple[int, int]]  # of the planes of the values that stand


def blocks_of(data: bytes, form: int, total: int, end: int, decoder) -> Iterator[Block]:
    """Of a payload of `total` bytes the blocks up to byte `end`. Of their frames masks alone are decompressed; what does not fit together
    is Malformed."""
    at = begin = whole = 0
    width = form & PLANES
    try:
        while at < len(data) and (begin < end or end == total):
            mask = None
            if form & MASKED:
                content, stop = zstd_frame(data, at, len(data))
                if not 0 < content <= BLOCK // 8 + 1:
                    raise Malformed("a mask of an impossible size")
                mask, at = _mask(np.frombuffer(decoder.decompress(data[at:stop]), np.uint8)), stop
            kept = None if mask is None else int(np.count_nonzero(mask))
            frames: List[Tuple[int, int]] = []
            for _ in range(width if kept != 0 else 0):
                content, stop = zstd_frame(data, at, len(data))
                kept = content if kept is None else kept
                if content != kept:
                    raise Malformed("planes of sizes that do not fit together")
                frames.append((at, stop))
                at = stop
            count = kept or 0 if mask is None else len(mask)
            block = count * width
            if block == 0 or block > BLOCK or (whole and block > whole):
                raise Malformed("blocks of sizes that do not fit together")
            whole = whole or block
            yield Block(begin, count, mask, frames)
            begin += block
    except (zstandard.ZstdError, IndexError) as why:
        raise Malformed(str(why)) from why
    if begin < end or (end == total and begin != total):
        raise Malformed("values that do not have the size of their shape")


def unpack_block(data, form: int, block: Block, into: np.ndarray, decoder) -> None:
    """The bytes of one block, into an array of values x planes."""
    width = form & PLANES
    values = into if block.mask is None else np.empty((int(np.count_nonzero(block.mask)), width), np.uint8)
    try:
        for plane, (start, stop) in enumerate(block.frames):
            values[:, plane] = np.frombuffer(decoder.decompress(data[start:stop]), np.uint8)
    except (zstandard.ZstdError, ValueError) as why:
        raise Malformed(str(why)) from why
    if form & ROTATED:
        words = np.ascontiguousarray(values).reshape(-1).view(f"<u{width}")
        values[:] = (words >> words.dtype.type(1) | words << words.dtype.type(8 * width - 1)).view(np.uint8).reshape(-1, width)
    if block.mask is not None:
        into[:] = 0
        into[block.mask] = values


def unpack(data: bytes, form: int, total: int, first: int, size: int, decoder) -> np.ndarray:
    """Of a payload of `total` bytes `size` from byte `first` on: only the blocks that hold them are decompressed."""
    out, width = np.empty(size, np.uint8), form & PLANES
    for block in blocks_of(data, form, total, first + size, decoder):
        length = block.length * width
        low, high = max(block.begin, first), min(block.begin + length, first + size)
        if low >= high:
            continue
        if high - low == length:
            unpack_block(data, form, block, out[low - first:high - first].reshape(block.length, width), decoder)
        else:
            values = np.empty((block.length, width), np.uint8)
            unpack_block(data, form, block, values, decoder)
            out[low - first:high - first] = values.reshape(-1)[low - block.begin:high - block.begin]
    return out
