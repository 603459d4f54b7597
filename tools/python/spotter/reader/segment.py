# SPDX-License-Identifier: Apache-2.0
"""One segment: where its row frames are, and what they hold."""

from __future__ import annotations

import math
import struct
from contextlib import suppress
from functools import reduce
from types import SimpleNamespace
from typing import TYPE_CHECKING, Iterator, List, MutableMapping, NamedTuple, Optional, Set, Tuple, Union

import numpy as np
import zstandard

from ..errors import Corrupt, NotARun, UnknownVersion
from .frames import Bytes, Frame, Group, Walk, row_frame
from .layout import (BLOCK, DTYPES, GROUP, HEAD, HEAD_BYTES, LAST, PLANES, ROWS, THINNED, UNKNOWN, VERSIONS, Fields,
                     Malformed, has_checksum, has_form)
from .packed import Packed
from .payload import blocks_of, unpack, unpack_block
from .rows import Place, Plain, each_row, read_observe, read_scalar
from .sidecar import Sidecar, Spans, joined
from .store import AnyFile, AnyPath, identity_of, open_file, size_of

if TYPE_CHECKING:
    from .record import Tensor

Plan = Tuple[int, Optional[int]]  # attempt, and number of collections so far: an exchanged plan adds its own


class Lost(NamedTuple):
    """Rows that cannot be read. `offset` is of what stands behind them; `spans` the steps that they can be of, where
    that is known. Where it has `begun`, the indices rise from there on, as far as the closes before the ordinal `end` (0:
    that is not known) have room."""
    offset: int
    spans: Optional[Spans]
    begun: bool = False
    end: int = 0


class Segment:
    """One segment: where its row frames are. The file stays open, so it can be read after it was thinned or removed."""

    def __init__(self, path: AnyPath, number: int):
        self.path, self.number, self.size = path, number, 0
        self.file: Optional[AnyFile] = None
        self.inode: Union[int, str, None] = None
        self.groups: List[Group] = []
        self.ids: MutableMapping[int, "Tensor"] = {}  # the writer's ids; where its own declarations were lost those of its attempt
        self._unknown: Set[int] = set()  # ids of rows that were read, which nothing declared when they were
        self.decoder = zstandard.ZstdDecompressor()
        self.head: Optional[SimpleNamespace] = None  # where it is sound
        self.attempt = UNKNOWN
        self.collections: Optional[int] = None  # how many its run_begin lists, where it has been read
        self.noticed = self.known_to = self.skip = self.surveyed_to = 0
        self.superseded = self.foreign = self.stray = self.closed = self.thinned = False
        self.behind_lost = False  # the end of the one before it is lost, or whole segments
        self.lost: List[Lost] = []  # in order, but for what only shows when rows are read
        self._lost_past_end: List[Lost] = []  # what the sidecar knows behind the end, until it is one of these
        self.beside: Optional[Sidecar] = None  # until its declarations were taken in
        self._torn_end = False
        self.has_rows_past_end = self.end_noted = False  # the sidecar knows of rows behind the end
        self.left_short = False  # closes are gone from its end, as the next attempt shows, which counts on behind them
        self.left_torn = False  # what its writer was about to write was left unfinished, and nobody goes on from it

    def __del__(self):
        if self.file is not None:
            self.file.close()

    def extend(self, run_id: int):
        """Takes in what was written since the last call: groups as the sidecar says, those behind its last place as
        they are met. run_id: of the run that it has to be of, 0: any."""
        if self.superseded:
            return
        try:
            if self.file is None or identity_of(self.path) != self.inode:
                fresh = open_file(self.path)
                thinned = is_thinned(fresh)
                if self.file is not None and thinned and not self.thinned:
                    fresh.close()
                    self.superseded = True
                    return
                self.file, self.inode, self.thinned = fresh, identity_of(self.path, fresh), thinned
        except FileNotFoundError:
            return
        self.size = size_of(self.file)
        self.thinned = self.thinned or is_thinned(self.file)
        if self.size < HEAD_BYTES or self.unusable:
            return
        if self.known_to == 0:
            self._take_head(run_id)
            if self.unusable:
                return
        first_new, walk = len(self.groups), Walk(self.bytes(), self.known_to)
        for frame in walk:
            if isinstance(frame, Frame):
                self._take_frame(frame, first_new)
            elif sum(frame) > HEAD_BYTES:  # a head holds no rows
                its = joined(each.spans for each in self._lost_past_end) if self._lost_past_end else None
                self.lost.append(Lost(frame[0], its, its is not None))
        self.lost += self._lost_past_end
        self._lost_past_end.clear()
        self.known_to, self._torn_end = walk.good_end, walk.torn_end

    @property
    def plan(self) -> Plan:
        return self.attempt, self.collections

    @property
    def unusable(self) -> bool:
        """Nothing of it is read: it is of another format version, or of another run or another number."""
        return self.foreign or self.stray

    def _take_head(self, run_id: int):
        head, why = read_head(self.bytes())
        self.foreign = isinstance(why, UnknownVersion)
        if head is not None:
            self.stray = head.number != self.number or (run_id != 0 and head.run_id != run_id)
        if self.unusable:
            return
        self.head = head
        self.known_to = self.surveyed_to = 0 if why else HEAD_BYTES
        if not why and not self.skip:
            self._take_sidecar()

    def _take_frame(self, frame: Frame, fresh: int):
        if self.skip:
            self.skip -= 1
            return
        last = self.groups[-1] if len(self.groups) > fresh else None
        if last is not None and frame.offset == last.end and last.end - last.offset < GROUP:
            last.end, last.frames, last.flags = frame.end, last.frames + 1, last.flags | frame.flags
            last.closes += frame.closes
        else:
            self.groups.append(Group(frame.offset, frame.end, 1, frame.first_ordinal, frame.closes, frame.flags,
                                     frame.previous_end))

    def _take_sidecar(self):
        """As far as its places are whole, follow one another and lie in the segment."""
        try:
            with open_file(self.path.with_suffix(".spotx")) as file:
                side = Sidecar(file.read())
        except OSError:
            return
        owner = side.owner()
        if owner is not None and owner != (self.head.run_id, self.head.attempt):
            return
        self.beside = side
        places = list(side.chain(self.thinned))
        inside = [each for each in places if each.end <= self.size]
        if owner is None and inside and not any(map(self._belongs, [inside[-1]] + inside[:-1])):
            return
        self.groups = inside
        self.known_to = inside[-1].end if inside else self.known_to
        if len(places) > len(inside) and size_of(self.file) < places[-1].end:
            outside = places[len(inside):]
            begun = [each for each in outside if each.offset < self.size]
            gone = outside[len(begun):]
            self._lost_past_end = [Lost(self.size, each.spans, True, each.first_ordinal + each.closes) for each in begun]
            self._lost_past_end += [Lost(self.size, joined(each.spans for each in gone))] if gone else []
            self.has_rows_past_end = True

    def _belongs(self, place: Group) -> bool:
        """Else the sidecar is of another segment, such as the one whose place this took, or the segment is damaged
        there."""
        frame = row_frame(self.bytes(), place.offset)
        if frame is None or frame.end > place.end:
            return False
        return (frame.first_ordinal, frame.previous_end) == (place.first_ordinal, place.previous_end)

    def has_torn_end(self) -> bool:
        """It ends in the beginning of the row frame that closed it, and that held something of steps. Not where the
        sidecar tells of what that was."""
        return self._torn_end and not self.superseded and not self.has_rows_past_end

    def bytes(self, end: Optional[int] = None) -> Bytes:
        return Bytes(self.file, self.size if end is None else end)

    def whole(self) -> bool:
        return bool(self.groups) and bool(self.groups[-1].flags & LAST)

    def next_ordinal(self) -> int:
        if not self.groups:
            return 0 if self.head is None else self.head.first_ordinal
        return self.groups[-1].first_ordinal + self.groups[-1].closes

    def ends_open(self, group: Group) -> bool:
        """Values stand behind the last close of a group."""
        held = False
        for frame in self.frames_of(group):
            for kind, _, body in each_row(frame.body):
                if kind in (5, 10):
                    held = False
                elif kind == 3:
                    held = True
                elif kind == 4:
                    with suppress(Malformed):
                        held = held or not read_scalar(body).loose
        return held

    def frames_of(self, group: Group) -> Iterator[Frame]:
        for frame in Walk(self.bytes(group.end), group.offset):
            if isinstance(frame, Frame):
                yield frame

    def pieces_of(self, group: Group, malformed) -> list:
        """The rows of steps in a group, read once: malformed(offset, bytes) for those that are not in order."""
        if group.pieces is None:
            pieces: list = []
            frames = 0
            for frame in self.frames_of(group):
                frames += 1
                plain = Plain(frame.first_ordinal)
                for kind, at, body in each_row(frame.body):
                    at += frame.offset + 48
                    try:
                        if kind == 10:
                            packed = Packed(body, at)
                            pieces += [plain, packed]
                            plain = Plain(packed.next)
                            packed.hold()
                            self._unknown.update(each for each in packed.ids() if each not in self.ids)
                        elif kind in (3, 4):
                            sample = (read_observe if kind == 3 else read_scalar)(body)
                            plain.add(sample, body, at)
                            if sample.id not in self.ids:
                                self._unknown.add(sample.id)
                        elif kind == 5:
                            plain.close(Fields(body))
                    except Malformed:
                        malformed(at, len(body))
                        group.whole = False
                pieces.append(plain)
            group.whole = group.whole and frames == group.frames
            group.pieces = [each for each in pieces if isinstance(each, Packed) or each.entries or each.closes]
        return group.pieces

    def has_marks(self) -> bool:
        """It says how far a ring in shared memory is in it: so what a recovery wrote, which goes on from a segment
        without an end."""
        for group in self.groups:
            for frame in self.frames_of(group):
                kinds = {kind for kind, _, _ in each_row(frame.body)}
                if 11 in kinds:
                    return True
                if kinds - {1, 2}:
                    return False  # every other frame has a mark, or none has
        return False

    def nameless(self) -> Set[int]:
        """Ids of rows that were read, which nothing declares."""
        if self._unknown:
            self._unknown = {each for each in self._unknown if each not in self.ids}
        return self._unknown

    def survey(self) -> Iterator[Tuple[int, int]]:
        """Damage that has not been met yet; looks at every frame."""
        known = self.unusable or self.superseded or self.surveyed_to == self.size or self.size < HEAD_BYTES
        if self.file is None or known:
            return
        walk = Walk(self.bytes(), self.surveyed_to)
        for each in walk:
            if isinstance(each, Frame):
                self.closed = bool(each.flags & LAST)
            else:
                yield each
        self.surveyed_to = walk.good_end

    def values(self, place: Place, elements: Optional[Tuple[int, int]]) -> np.ndarray:
        """The stored elements at a place, flat, in the order of memory: all, or so many from one on."""
        width, count = DTYPES[place.dtype][1], math.prod(place.shape)
        first, wanted = (0, count) if elements is None else elements
        parts: List[np.ndarray] = []
        for offset, size, form in place.parts:
            try:
                parts.append(unpack(self._payload(place, offset, size, form), form, count * width, first * width, wanted * width,
                                    self.decoder))
            except Malformed as why:
                raise self._damaged(place, offset, why) from why
        return reduce(np.bitwise_xor, parts).view(DTYPES[place.dtype][3])

    def value_blocks(self, place: Place) -> Iterator[np.ndarray]:
        """All of them, one after the other in pieces that a processor has room for: each is gone when the next one is asked for."""
        offset, size, form = place.parts[0]
        total = math.prod(place.shape) * DTYPES[place.dtype][1]
        if len(place.parts) > 1 or total <= BLOCK:
            yield self.values(place, None)
            return
        try:
            data, room = self._payload(place, offset, size, form), np.empty(BLOCK, np.uint8)
            blocks = list(blocks_of(data, form, total, total, self.decoder))
            if any(each.length * (form & PLANES) % DTYPES[place.dtype][1] for each in blocks):  # an element that is in two blocks
                yield self.values(place, None)
                return
            for each in blocks:
                values = room[:each.length * (form & PLANES)]
                unpack_block(data, form, each, values.reshape(each.length, form & PLANES), self.decoder)
                yield values.view(DTYPES[place.dtype][3])
        except Malformed as why:
            raise self._damaged(place, offset, why) from why

    def _payload(self, place: Place, offset: int, size: int, form: int):
        total = math.prod(place.shape) * DTYPES[place.dtype][1]
        if offset + size > self.size or not has_form(place.dtype, form) or total > size // 13 * BLOCK:
            raise Malformed("values at an impossible place")
        return self.bytes(offset + size)[offset:offset + size]

    def _damaged(self, place: Place, offset: int, why: Malformed) -> Corrupt:
        subject = "the values" if offset == place.parts[0][0] else f"the values that those at byte {place.parts[0][0]} build on,"
        return Corrupt(f"{subject} at byte {offset} of {self.path} are damaged ({why}): the statistics of this tensor and all "
                       "other values can be read; `spotter verify` lists what cannot")


def is_thinned(file) -> bool:
    file.seek(HEAD_BYTES)
    head = file.read(48)
    return len(head) == 48 and head[:4] == struct.pack("<I", ROWS) and bool(head[44] & THINNED)


def read_head(data: Bytes):
    """(fields, None), or (None, why not)."""
    head = data[0:HEAD_BYTES]
    if len(head) < HEAD_BYTES or head[:4] != struct.pack("<I", HEAD) or head[8:16] != b"spotter\0":
        return None, NotARun("no spotter segment")
    if head[4:8] != struct.pack("<I", 56) or not has_checksum(head[:56], head[56:]):
        return None, Corrupt("the head of a segment is damaged")
    names = ("version", "draft", "number", "run_id", "first_ordinal", "worker", "attempt", "time")
    found = SimpleNamespace(**dict(zip(names, struct.unpack("<HHIQQIId", head[16:56]))))
    if found.version not in VERSIONS or found.draft != 0:
        return None, UnknownVersion(f"format version {found.version}, draft {found.draft}: this package reads versions 1 and 2; "
                                    "install that of the library that wrote it")
    return found, None
