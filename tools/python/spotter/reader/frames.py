# SPDX-License-Identifier: Apache-2.0
"""Row frames, and the walk from one to the next over damage."""

from __future__ import annotations

import struct
from typing import NamedTuple, Optional, Tuple

import numpy as np

from ..errors import IoError
from .layout import HEAD, HEAD_BYTES, LAST, ROWS, ZSTD, Malformed, has_checksum
from .payload import zstd_frame


class Frame(NamedTuple):
    """A row frame; `body` holds its rows and begins at `body_at`."""
    offset: int
    end: int
    previous_end: int
    first_ordinal: int
    closes: int
    flags: int
    body: bytes


class Group:
    """Row frames that follow one another without payload between them. `spans` of modes: lowest and highest step index; None where
    that is not known."""
    __slots__ = ("offset", "end", "frames", "first_ordinal", "closes", "flags", "spans", "pieces", "whole",
                 "previous_end")

    def __init__(self, offset, end, frames, first_ordinal, closes, flags, previous_end, spans=None):
        self.offset, self.end, self.frames, self.first_ordinal = offset, end, frames, first_ordinal
        self.closes, self.flags, self.spans, self.pieces = closes, flags, spans, None
        self.previous_end = previous_end
        self.whole = True  # once it was read: all its frames, and every row of steps in them, are in order

    def may_hold(self, mode, index):
        return self.spans is None or self.spans[2 * mode] <= index <= self.spans[2 * mode + 1]


PLACE_FIELDS: np.dtype = np.dtype([("magic", "<u4"), ("frames", "<u4"), ("offset", "<u8"), ("end", "<u8"), ("previous_end", "<u8"),
                          ("first_ordinal", "<u8"), ("closes", "<u4"), ("rows", "<u4"), ("values", "<u4"), ("flags", "<u4"),
                          ("spans", "<u8", 6), ("checksum", "<u8")])


class Bytes:
    """Bytes of a file up to a place, read piece by piece; sliced as bytes are."""
    PIECE = 256 * 1024

    def __init__(self, file, end: int):
        self.file, self.end, self.base, self.piece = file, end, 0, b""

    def __getitem__(self, wanted: slice) -> bytes:
        start, stop = wanted.start, min(wanted.stop, self.end)
        if start < self.base or stop > self.base + len(self.piece):
            try:
                self.file.seek(start)
                self.base, self.piece = start, self.file.read(min(max(stop - start, self.PIECE), max(self.end - start, 0)))
            except OSError as why:
                raise IoError(f"{self.file.name} cannot be read at byte {start}: {why.strerror}") from why
        return self.piece[start - self.base:stop - self.base]


def row_frame(data: Bytes, at: int) -> Optional[Frame]:
    """The row frame at a place, if it is whole, sound and says that it belongs there."""
    head = data[at:at + 48]
    if len(head) < 48:
        return None
    magic, size, offset, previous_end, first_ordinal, _, closes, _, flags = struct.unpack("<IIQQQIIII", head)
    end = at + 8 + size
    if magic != ROWS or offset != at or previous_end > at or size < 48 or end > data.end:
        return None
    whole = data[at:end]
    if len(whole) < end - at or not has_checksum(whole[:-8], whole[-8:]):
        return None
    return Frame(at, end, previous_end, first_ordinal, closes, flags, whole[48:-8])


class Walk:
    """Goes through a segment from row frame to row frame, over damage and up to a torn tail, as docs/format.md says: yields frames, and
    (offset, bytes) of damage. `good_end` is behind the last good frame."""

    def __init__(self, data: Bytes, start: int, chained: Optional[bool] = None):
        """chained: the first frame has to say that nothing stands between `start` and it; by default behind the
        head."""
        self.data, self.good_end, self.chained = data, start, start == HEAD_BYTES if chained is None else chained
        self.torn_end = False  # it ends in the head of the row frame that closed it, and that held something of steps

    def __iter__(self):
        at, data = self.good_end, self.data
        while at < data.end:
            try:
                if data[at:at + 4] == struct.pack("<I", ZSTD):
                    at = zstd_frame(data, at, data.end)[1]
                    continue
                frame, cut = row_frame(data, at), False
                if frame is None or (self.chained and frame.previous_end != self.good_end):
                    frame, cut = None, self._is_cut(at)
            except Malformed:
                frame, cut = None, False
            except IndexError:
                frame, cut = None, True
            if frame is None:
                frame, displaced = self._search()
                if frame is None:
                    if not cut or displaced:
                        yield self.good_end, data.end - self.good_end
                        self.good_end = data.end
                    return
                yield self.good_end, frame.offset - self.good_end
            self.chained = True
            at = self.good_end = frame.end
            yield frame

    def _is_cut(self, at):
        """Whether what begins there is a skippable frame that goes on beyond the end, and belongs there as far as it says."""
        head = self.data[at:at + 48]
        if len(head) < 8:
            return len(head) < 4 or head[:4] in (struct.pack("<I", ROWS), struct.pack("<I", HEAD))
        magic, size = struct.unpack("<II", head[:8])
        if magic not in (ROWS, HEAD) or at + 8 + size <= self.data.end:
            return False
        if magic == HEAD or len(head) < 16:
            return True
        if int.from_bytes(head[8:16], "little") != at:
            return False
        if len(head) < 24:
            return True
        if self.chained and int.from_bytes(head[16:24], "little") != self.good_end:
            return False
        self.torn_end = len(head) == 48 and any(head[36:44]) and bool(head[44] & LAST)
        return True

    def _search(self) -> Tuple[Optional[Frame], bool]:
        """The next row frame that says that it belongs where it is; and whether there is one, whole, of another place.
        (Each byte's checksum is computed once at most to find the latter.)"""
        at, magic, displaced, looks = self.good_end, struct.pack("<I", ROWS), False, self.data.end - self.good_end
        while at < self.data.end:
            piece = self.data[at:at + Bytes.PIECE]
            found = piece.find(magic)
            if found < 0:
                at += max(len(piece) - 3, 1)
                continue
            at += found
            frame = row_frame(self.data, at)
            if frame is not None:
                return frame, displaced
            head = self.data[at:at + 16]
            size = 8 + int.from_bytes(head[4:8], "little")
            elsewhere = len(head) == 16 and int.from_bytes(head[8:], "little") != at
            if elsewhere and not displaced and 56 <= size <= looks:
                whole = self.data[at:at + size]
                looks -= size
                displaced = len(whole) == size and has_checksum(whole[:-8], whole[-8:])
            at += 1
        return None, displaced
