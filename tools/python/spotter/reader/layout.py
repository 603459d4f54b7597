# SPDX-License-Identifier: Apache-2.0
"""The numbers and fields of the format (docs/format.md), and its checksum."""

from __future__ import annotations

import lzma
import math
import struct
import zlib


class Malformed(Exception):
    """A row, frame or payload that is not in order."""


HEAD, ROWS, ZSTD, PLACE = 0x184D2A50, 0x184D2A51, 0xFD2FB528, 0x32585053
HEAD_BYTES, BLOCK, GROUP = 64, 256 * 1024, 16 * 1024
VERSIONS = (1, 2)
ONES = (1 << 64) - 1
UNKNOWN = -1  # an attempt of which nobody knows
DECLARES, FINDINGS, RUN_END, LAST, DROPS, THINNED = 1, 2, 4, 8, 16, 32  # flags of a row frame

# dtype: name, bytes of an element, bytes that are split into planes, as NumPy stores it
DTYPES = (("none", 0, 0, "V0"), ("bool", 1, 1, "u1"), ("i8", 1, 1, "i1"), ("i16", 2, 2, "<i2"), ("i32", 4, 4, "<i4"),
           ("i64", 8, 8, "<i8"), ("u8", 1, 1, "u1"), ("u16", 2, 2, "<u2"), ("u32", 4, 4, "<u4"), ("u64", 8, 8, "<u8"),
           ("f16", 2, 2, "<f2"), ("bf16", 2, 2, "<u2"), ("f32", 4, 4, "<f4"), ("f64", 8, 8, "<f8"), ("c64", 8, 4, "<c8"),
           ("c128", 16, 8, "<c16"), ("f8_e4m3", 1, 1, "u1"), ("f8_e5m2", 1, 1, "u1"), ("text", 1, 1, "S1"))
BOOL, BF16, E4M3, E5M2, TEXT = 1, 11, 16, 17, 18
PLANES, ROTATED, MASKED = 15, 16, 32  # of the form of a payload: bits for the number of planes, and one bit each


def has_form(dtype: int, form: int) -> bool:
    """Whether values of a dtype can stand so."""
    planes = form & PLANES
    fits = dtype != 0 and planes in (1, DTYPES[dtype][2]) and not (form & ROTATED and planes == 1)
    return fits and not form & ~(PLANES | ROTATED | MASKED)


def _xz_stream_start() -> bytes:
    flags, block = b"\x00\x04", b"\x02\x00\x21\x01\x00\x00\x00\x00"  # CRC-64; one filter, LZMA2 with 4 KiB
    return (b"\xFD7zXZ\x00" + flags + struct.pack("<I", zlib.crc32(flags)) + block + struct.pack("<I", zlib.crc32(block)))


_XZ_START = _xz_stream_start()


def has_checksum(data: bytes, checksum: bytes) -> bool:
    """Whether the CRC-64/XZ of `data` is these 8 bytes. It is the check of the .xz format, so liblzma is asked to unpack a stream that
    stores `data` as it stands: some fifty times as quick as NumPy is at it."""
    parts = [_XZ_START]
    for at in range(0, len(data), 1 << 16):
        piece = data[at:at + (1 << 16)]
        parts += (b"\x02" if at else b"\x01", struct.pack(">H", len(piece) - 1), piece)
    parts.append(b"\x00")
    parts.append(bytes(-sum(map(len, parts)) % 4))
    try:
        lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(b"".join(parts) + checksum)
    except lzma.LZMAError:
        return False
    return True


class Fields:
    """Reads fields from the bytes of a row, one after the other."""
    __slots__ = ("data", "at")

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        end = self.at + size
        if end > len(self.data):
            raise Malformed("a field runs beyond its row")
        taken = self.data[self.at:end]
        self.at = end
        return taken

    def u8(self, most=255):
        if self.at >= len(self.data):
            raise Malformed("a field runs beyond its row")
        value = self.data[self.at]
        if value > most:
            raise Malformed(f"{value} where there is nothing above {most}")
        self.at += 1
        return value

    def fixed(self, layout, size):
        return struct.unpack("<" + layout, self.take(size))

    def f64(self):
        return self.fixed("d", 8)[0]

    def varint(self, most=ONES):
        data, at, value, shift = self.data, self.at, 0, 0
        try:
            if data[at] < 128 and data[at] <= most:  # nearly all are of one byte
                self.at = at + 1
                return data[at]
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                if byte < 128:
                    break
                shift += 7
        except IndexError:
            raise Malformed("a varint runs beyond its row") from None
        if value > most or shift > 63 or (byte == 0 and shift):
            raise Malformed("a varint that is too large, or not in its shortest spelling")
        self.at = at
        return value

    def text(self):
        return self.take(self.varint()).decode("utf-8", "backslashreplace")

    def step(self):
        return self.u8(2), self.varint()

    def shape(self):
        shape = tuple(self.varint() for _ in range(self.u8(8)))
        if math.prod(size or 1 for size in shape) > 1 << 56:
            raise Malformed("a shape beyond any memory")
        return shape
