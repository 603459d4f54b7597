#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of the record format, written from docs/format.md alone.

    read_format.py SEGMENT.spot...          prints what is in each segment, as tests/golden/README.md describes
    read_format.py --compare FOLDER...      compares with the .txt beside each .spot below, and checks the sidecars

It ends with 1 where something differs, and with 2 where a module is missing.
"""

import math
import struct
import sys
from pathlib import Path
from types import SimpleNamespace as Record
from typing import NamedTuple

try:
    import numpy as np
    import zstandard
except ImportError as error:
    print(f"{error.name} is missing: python3-numpy and python3-zstandard are needed", file=sys.stderr)
    sys.exit(2)

HEAD, ROWS, ZSTD = 0x184D2A50, 0x184D2A51, 0xFD2FB528
PLACE = 0x32585053
BLOCK = 256 * 1024  # bytes, at most
VERSIONS = ((1, 0), (2, 0))
MODES = ("train", "eval", "predict")
ONES = 0xFFFFFFFFFFFFFFFF

# dtype: bytes of an element, bytes of what is split into planes, NumPy's name (raw bits where it has none)
DTYPES = {1: (1, 1, "?"), 2: (1, 1, "i1"), 3: (2, 2, "<i2"), 4: (4, 4, "<i4"), 5: (8, 8, "<i8"),
          6: (1, 1, "u1"), 7: (2, 2, "<u2"), 8: (4, 4, "<u4"), 9: (8, 8, "<u8"),
          10: (2, 2, "<f2"), 11: (2, 2, "<u2"), 12: (4, 4, "<f4"), 13: (8, 8, "<f8"),
          14: (8, 4, "<c8"), 15: (16, 8, "<c16"), 16: (1, 1, "u1"), 17: (1, 1, "u1"), 18: (1, 1, "S1"), 0: (0, 0, "V0")}


class FormatError(Exception):
    """Bytes that are not in order."""


class BeyondEnd(FormatError):
    """A frame that goes on behind the end of the file."""


# ---- CRC-64/XZ ------------------------------------------------------------------------------------------------------

def _shift(states, table):
    """Each of the states after as many zero bytes as the table stands for."""
    result = table[0][states & np.uint64(255)]
    for k in range(1, 8):
        result = result ^ table[k][(states >> np.uint64(8 * k)) & np.uint64(255)]
    return result


def _eight_bytes():
    """The table of a shift by eight bytes: what byte b at place k of the state becomes."""
    one = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        one = np.where(one & np.uint64(1), (one >> np.uint64(1)) ^ np.uint64(0xC96C5795D7870F42), one >> np.uint64(1))
    states = np.array([[b << (8 * k) for b in range(256)] for k in range(8)], dtype=np.uint64)
    for _ in range(8):
        states = one[states & np.uint64(255)] ^ (states >> np.uint64(8))
    return states


SHIFTS = [_eight_bytes()]  # by 8, 16, 32... bytes


def crc64(data):
    """CRC-64/XZ: the words as states, folded in pairs; a state followed by n bytes is the state shifted by n."""
    size = len(data)
    padded = bytearray(-size % 8 if size else 8) + data  # zeros in front of a zero state change nothing
    start = len(padded) - size
    for i in range(start, start + min(8, size)):
        padded[i] ^= 0xFF  # the initial value
    words = np.frombuffer(bytes(padded), dtype="<u8")
    level = 0
    while len(words) > 1:
        if len(words) % 2:
            words = np.concatenate((np.zeros(1, np.uint64), words))
        words = _shift(words[0::2], SHIFTS[level]) ^ words[1::2]
        level += 1
        if level == len(SHIFTS):
            SHIFTS.append(_shift(SHIFTS[-1], SHIFTS[-1]))
    rest = ONES >> (8 * size) if size < 8 else 0  # of the initial value, where the data are shorter than it
    return int(_shift(words, SHIFTS[0])[0]) ^ rest ^ ONES


# ---- fields ---------------------------------------------------------------------------------------------------------

class Step(NamedTuple):
    mode: int
    index: int

    def __str__(self):
        return f"{MODES[self.mode]}({self.index})"


class Shape(tuple):
    def __str__(self):
        return "[" + ",".join(map(str, self)) + "]"


class Bits(int):
    """64 bits that the text has in hex."""

    def __str__(self):
        return f"{self:016x}"


class Cursor:
    """Reads fields from bytes, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        if size > self.left():
            raise FormatError("a field runs beyond its row")
        self.at += size
        return self.data[self.at - size:self.at]

    def u8(self):
        return self.take(1)[0]

    def u32(self):
        return int.from_bytes(self.take(4), "little")

    def u64(self):
        return Bits(int.from_bytes(self.take(8), "little"))

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.u8()
            value |= (byte & 127) << (7 * i)
            if byte < 128:
                if (byte == 0 and i) or value > ONES:
                    break
                return value
        raise FormatError("not a varint in its shortest spelling")

    def text(self):
        return self.take(self.varint())

    def step(self):
        return Step(self.known(range(len(MODES)), "mode"), self.varint())

    def known(self, numbers, what):
        """A u8 that has to be one of some numbers."""
        value = self.u8()
        if value not in numbers:
            raise FormatError(f"unknown {what} {value}")
        return value

    def dtype(self):
        return self.known(DTYPES, "dtype")

    def shape(self):
        return Shape(self.many(self.varint, self.known(range(9), "rank")))

    def partner(self):
        number = self.varint()
        return number - 1 if number else None

    def many(self, read, count=None):
        return [read() for _ in range(self.varint() if count is None else count)]


# ---- rows: each a record of its fields in the order of the text; `more` are the lines below it ----------------------

def read_run_begin(c):
    row = Record(run_id=c.u64(), attempt=c.varint(), worker=c.varint(), time=c.f64(), instant=c.u8(), version=c.text())
    row.more = [("collection", c.text(), c.text()) for _ in range(c.varint())]
    row.workers = c.varint() if c.left() else 0
    if c.left():
        row.more.append(("environment", c.text()))
    return row


def read_declare(c):
    return Record(id=c.varint(), name=c.text(), role=c.u8(), partner_role=c.u8(), partner=c.partner(), flags=c.varint(),
                  activation=c.u8(), dtype=c.dtype(), shape=c.shape(), collections=c.u64())


SUMMARY = [(2, "zeros", Cursor.varint), (4, "minimum maximum", Cursor.f64), (8, "abs_minimum abs_maximum", Cursor.f64),
           (16, "sum", Cursor.f64), (32, "sum_abs", Cursor.f64), (64, "sum_squares", Cursor.f64),
           (128, "moment2", Cursor.f64), (256, "product", Cursor.f64)]


def read_summary(c, mask, finite=False):
    """The fields behind `count`; finite: without the counts of what is not."""
    if mask >> 11:
        raise FormatError(f"unknown mask {mask}")
    fields = {}
    if mask & 1:
        for name in ("nan", "pos_inf", "neg_inf"):
            fields[name] = 0 if finite else c.varint()
        if any(fields.values()):
            fields["first_bad"] = c.varint()
    for bit, names, read in SUMMARY:
        if mask & bit:
            fields |= {name: read(c) for name in names.split()}
    if mask & 512:
        fields["has_previous"] = c.u8()
        if fields["has_previous"]:
            fields["previous_index"] = c.varint()
            fields |= {name: c.f64() for name in ("previous_sum_squares", "delta_sum_squares", "dot")}
            fields["changed"] = c.varint()
    if mask & 1024:
        fields["hash"] = c.u64()
    return fields


def read_observe(c):
    row = Record(bits=c.u8(), id=c.varint(), step=c.step(), mask=c.varint(), count=c.varint(), more=[])
    if row.bits >> 7 or (row.bits & 64 and not row.bits & 2):
        raise FormatError(f"unknown bits {row.bits} of an observe")
    row.summary = read_summary(c, row.mask)
    if row.bits & 1:
        units, axis = c.varint(), c.u8()
        row.more.append(("units", axis, units, c.many(c.u32, units), c.many(c.u32, units)))
    if row.bits & 8:
        quantiles = c.many(c.f64)
        row.more.append(("quantiles", len(quantiles), quantiles))
    if row.bits & 16:
        bins = c.varint()
        row.more.append(("histogram", bins, c.f64(), c.f64(), c.many(c.varint, bins)))
    if row.bits & 32:
        row.more.append(("shape", c.shape()))
    if row.bits & 2:
        place = Record(dtype=c.dtype(), order=c.u8(), shape=c.shape(), form=c.u8(), offset=c.varint(), bytes=c.varint(),
                       bases=[])
        if row.bits & 64:
            read_bases(c, place)
            row.more.append(("bases", len(place.bases), [[base.offset, base.bytes, base.form] for base in place.bases]))
        row.more.append(place)
    return row


def read_bases(c, place):
    """The payloads that the values build on, the nearest first."""
    links, offset = c.varint(), place.offset
    if not 1 <= links <= 64:
        raise FormatError(f"{links} links")
    for _ in range(links):
        distance = c.varint()
        if not 0 < distance <= offset:
            raise FormatError("a base that is not before its difference")
        offset -= distance
        place.bases.append(Record(dtype=place.dtype, order=place.order, shape=place.shape, offset=offset,
                                  bytes=c.varint(), form=c.u8()))


def read_scalar(c):
    bits, number = c.u8(), c.varint()
    return Record(id=number, step=c.step() if bits & 1 else None, dtype=c.dtype(), data=c.text().hex() or None,
                  time=c.f64() if bits & 2 else None)


def read_close(c):
    return Record(step=c.step(), left_out=c.varint(), ordinal=c.varint(), time=c.f64())


def read_finding(c):
    return Record(step=c.step(), texts=c.many(c.text, 6), measured=c.f64(), threshold=c.f64(),
                  codes=c.many(c.u8, 4), others=c.varint())


def read_drops(c):
    return Record(totals=c.many(c.varint, 3))


def read_heartbeat(c):
    return Record(time=c.f64())


def read_drained(c):
    row = Record(position=c.varint())
    if c.left():
        row.bytes, row.form, row.observe = c.varint(), c.u8(), c.take(c.left()).hex()
    return row


def read_integer(c):
    value = c.varint()
    if value > 1 << 53:
        raise FormatError(f"{value} is no integer of a feature")
    return float(value)


def read_stay(c):
    return Record(time=c.f64(), seconds=c.f64(), section=c.text())


def read_times(c):
    """When steps were begun and closed, in nanoseconds: those of a stretch one by one, or what all of it took, in equal parts."""
    row = Record(ordinal=c.varint(), count=c.varint(), moments=[])
    now, limit = c.u64(), 1 << 62
    if not 0 < row.count <= 65536 or now >= limit:
        raise FormatError("times of no or of too many steps")
    while len(row.moments) < 2 * row.count:
        head = c.varint()
        steps, even, begin = head >> 1, head & 1, now
        if not 0 < steps <= row.count - len(row.moments) // 2:
            raise FormatError("more times than there are steps")
        waited, lasted = (c.varint(), c.varint()) if even else (0, 0)
        if max(waited, lasted) > 65536 * 10_000:
            raise FormatError("short steps that are not short")
        for i in range(steps):
            if even:
                begun = begin + (i * (waited + lasted) + waited) // steps
                now = begin + (i + 1) * (waited + lasted) // steps
            else:
                begun = now + c.varint()
                now = begun + c.varint()
            if now >= limit:
                raise FormatError("a time that is none")
            row.moments += [begun, now]
    return row


def read_feature(c):
    row = Record(id=c.varint(), step=c.step(), key=c.u64(), count=c.varint())
    row.numbers = c.many((lambda: read_integer(c), c.f64)[c.known(range(2), "form")], row.count)
    return row


def read_run_end(c):
    row = Record(how=c.u8(), why=c.text(), totals=c.many(c.varint, 5), time=c.f64())
    row.more = [("coverage", c.text(), c.many(c.varint, 4), c.text()) for _ in range(c.varint())]
    return row


def read_items(c):
    """The items of one template."""
    while c.left():
        item = Record(type=c.u8(), id=c.varint())
        if item.type in (1, 2):
            item.count, item.dtype = c.varint(), c.dtype()
        elif item.type in (3, 4):
            item.mask, item.count = c.varint(), c.varint()
        else:
            raise FormatError(f"unknown item {item.type}")
        yield item


def item_rows(c, item, step):
    """The rows that an item stands for at one step."""
    if item.type in (3, 4):
        yield Record(kind="observe", bits=0, id=item.id, step=step, mask=item.mask, count=item.count, more=[],
                     summary=read_summary(c, item.mask, finite=item.type == 4))
        return
    for i in range(item.count):
        yield Record(kind="scalar", id=item.id + i, step=step, dtype=item.dtype,
                     data=c.take(DTYPES[item.dtype][0]).hex(), time=c.f64() if item.type == 2 else None)


def packed_rows(c):
    """The rows that a row of kind 10 stands for."""
    count, ordinal, first, last = c.varint(), c.varint(), c.f64(), c.f64()
    steps = []
    for _ in range(c.varint()):
        start, stride, length = c.step(), c.varint(), c.varint()
        if length > count - len(steps) or count > 65536:
            raise FormatError("more packed steps than there may be")
        steps += [Step(start.mode, start.index + stride * i) for i in range(length)]
    templates = c.many(lambda: list(read_items(Cursor(c.text()))))
    numbers = c.many(c.varint, count) if len(templates) > 1 else [0] * count
    if not count or len(steps) != count or max(numbers) >= len(templates):
        raise FormatError("packed steps that do not fit together")
    for i, step in enumerate(steps):
        for item in templates[numbers[i]]:
            yield from item_rows(c, item, step)
        time = first + (last - first) * (i / (count - 1)) if count > 1 else first
        yield Record(kind="close", step=step, left_out=0, ordinal=ordinal + i, time=time)


# A new kind is a function here; a text of its own it needs only where its fields are not its line.
READERS = {1: read_run_begin, 2: read_declare, 3: read_observe, 4: read_scalar, 5: read_close, 6: read_finding,
           7: read_drops, 8: read_heartbeat, 9: read_run_end, 11: read_drained, 12: read_feature,
           13: read_times, 14: read_stay}
EXPANDERS = {10: packed_rows}  # kinds that stand for several rows


def read_rows(body):
    """How many rows a frame's body has, and what they say: packed ones unpacked, unknown kinds left out."""
    c, rows, count = Cursor(body), [], 0
    while c.left():
        kind, inner = c.u8(), Cursor(c.text())
        count += 1
        if kind in EXPANDERS:
            rows += EXPANDERS[kind](inner)
        elif kind in READERS:
            rows.append(Record(kind=READERS[kind].__name__[5:], **vars(READERS[kind](inner))))
    return count, rows


# ---- frames ---------------------------------------------------------------------------------------------------------

def read_head(data):
    """The first 64 bytes."""
    if len(data) < 64:
        raise BeyondEnd("shorter than a head")
    names = "magic size name version draft number run_id first_ordinal worker attempt time checksum"
    head = Record(**dict(zip(names.split(), struct.unpack_from("<II8sHHIQQIIdQ", data))))
    if (head.magic, head.size, head.name) != (HEAD, 56, b"spotter\0"):
        raise FormatError("not a segment")
    if head.checksum != crc64(data[:56]):
        raise FormatError("the checksum of the head is wrong")
    if (head.version, head.draft) not in VERSIONS:
        raise FormatError(f"unknown version {head.version}, draft {head.draft}")
    return head


class Displaced(FormatError):
    """A row frame that is whole, and says that it stands elsewhere."""


def row_frame(data, at):
    """The row frame at an offset, in order in itself, its rows not read yet."""
    if at + 8 > len(data):
        raise BeyondEnd("a row frame")
    magic, size = struct.unpack_from("<II", data, at)
    end = at + 8 + size
    if magic != ROWS or size < 48:
        raise FormatError("not a row frame")
    if end > len(data):
        if at + 16 <= len(data) and struct.unpack_from("<Q", data, at + 8)[0] != at:
            raise FormatError("the beginning of a row frame that does not belong there")
        raise BeyondEnd("a row frame")
    names = "offset previous_end first_ordinal rows closes values flags"
    frame = Record(**dict(zip(names.split(), struct.unpack_from("<QQQIIII", data, at + 8))))
    if struct.unpack_from("<Q", data, end - 8)[0] != crc64(data[at:end - 8]):
        raise FormatError("a row frame with a wrong checksum")
    if frame.offset != at:
        raise Displaced("a row frame with a wrong offset")
    frame.end, frame.body = end, data[at + 48:end - 8]
    return frame


def zstd_frame(data, at):
    """Content size and end of the zstd frame at an offset, by its header and its block headers (RFC 8878, 3.1.1)."""
    def number(at, size):
        if at + size > len(data):
            raise BeyondEnd("a zstd frame")
        return int.from_bytes(data[at:at + size], "little")

    if number(at, 4) != ZSTD:
        raise FormatError("not a zstd frame")
    descriptor = number(at + 4, 1)
    single = descriptor >> 5 & 1
    size = (single, 2, 4, 8)[descriptor >> 6]
    if size == 0 or not descriptor & 4 or descriptor & 0b11011:
        raise FormatError("a zstd frame without content size or checksum, or with a dictionary")
    at += 5 + (not single)
    content = number(at, size) + (256 if size == 2 else 0)
    at += size
    last = 0
    while not last:
        header = number(at, 3)
        last, block, length = header & 1, header >> 1 & 3, header >> 3
        if block == 3:
            raise FormatError("a block of a reserved type")
        at += 3 + (1 if block == 1 else length)
    number(at, 4)
    return content, at + 4


def find_row_frame(data, at):
    """The next row frame that is in order in itself, from an offset on, or None; and whether one was met that stood
    elsewhere."""
    displaced = False
    while (at := data.find(struct.pack("<I", ROWS), at)) >= 0:
        try:
            return row_frame(data, at), displaced
        except FormatError as error:
            displaced = displaced or isinstance(error, Displaced)
            at += 1
    return None, displaced


def walk(data):
    """What is in a segment behind the head: row frames, damage and a torn tail, as records with a `kind`."""
    at = last = 64
    while at < len(data):
        try:
            if at + 4 > len(data):
                raise BeyondEnd("a frame")
            if data[at:at + 4] != struct.pack("<I", ROWS):
                at = zstd_frame(data, at)[1]
                continue
            frame = row_frame(data, at)
            if frame.previous_end != last:
                raise FormatError("a row frame that does not follow the one before")
        except FormatError as error:
            frame, displaced = find_row_frame(data, last)
            if frame is None:
                is_torn = isinstance(error, BeyondEnd) and not displaced
                yield Record(kind="torn" if is_torn else "damage", offset=last, end=len(data))
                return
            yield Record(kind="damage", offset=last, end=frame.offset)
        frame.kind = "rows"
        yield frame
        at = last = frame.end
    if last < len(data):  # payload whose rows were not written yet
        yield Record(kind="torn", offset=last, end=len(data))


# ---- values ---------------------------------------------------------------------------------------------------------

def payload(data, place):
    """The bytes of the values at a place, in memory order: those of its frames, exclusive or those of its bases."""
    result = np.frombuffer(frames_at(data, place), np.uint8)
    for base in place.bases:
        result = result ^ np.frombuffer(frames_at(data, base), np.uint8)
    return result.tobytes()


def frames_at(data, place):
    """The bytes that the frames at a place hold, with every one checked."""
    if place.dtype == 0 or place.order > 1:
        raise FormatError("values of no dtype, or in an unknown order")
    width, part, _ = DTYPES[place.dtype]
    planes, rotated, masked = place.form & 15, place.form & 16, place.form & 32
    end = place.offset + place.bytes
    if end > len(data) or planes not in (1, part) or place.form & 0xC0 or (rotated and planes == 1):
        raise FormatError("values at an impossible place")
    frames, blocks, sizes = Frames(data, place.offset, end), [], []
    while frames.at < end:
        stands = mask_of(frames.next(None)) if masked else None
        kept = None if stands is None else int(stands.sum())
        columns = []
        for _ in range(planes if kept != 0 else 0):
            columns.append(frames.next(len(columns[0]) if columns else kept))
        if not columns and stands is None:
            raise FormatError("a block of nothing")
        block = np.stack(columns, axis=1) if columns else np.zeros((0, planes), np.uint8)
        if rotated:
            words = np.ascontiguousarray(block).view(f"<u{planes}")
            one, rest = words.dtype.type(1), words.dtype.type(8 * planes - 1)
            block = (words >> one | words << rest).view(np.uint8)
        if stands is not None:
            all_of_it = np.zeros((len(stands), planes), np.uint8)
            all_of_it[stands] = block
            block = all_of_it
        if not 0 < block.size <= BLOCK:
            raise FormatError("a block of nothing, or too large")
        sizes.append(block.size)
        blocks.append(block.tobytes())
    result = b"".join(blocks)
    uneven = len(set(sizes[:-1])) > 1 or (len(sizes) > 1 and sizes[-1] > sizes[0])
    if uneven or len(result) != math.prod(place.shape) * width:
        raise FormatError("values that do not have the size of their shape")
    return result


class Frames:
    """The zstd frames of a payload."""

    def __init__(self, data, at, end):
        self.data, self.at, self.end, self.decoder = data, at, end, zstandard.ZstdDecompressor()

    def next(self, size):
        """What the next one holds: so many bytes, or as many as it says."""
        content, after = zstd_frame(self.data, self.at)
        if after > self.end or content > BLOCK or size not in (None, content):
            raise FormatError("a zstd frame beyond its payload, larger than a block, or of another size than those beside it")
        try:
            found = self.decoder.decompress(self.data[self.at:after])
        except zstandard.ZstdError as error:
            raise FormatError(str(error)) from error
        self.at = after
        return np.frombuffer(found, np.uint8)


def mask_of(said):
    """Of each value of a block whether it stands; None where all do."""
    if len(said) == 1 and said[0] == 0:
        return None
    if len(said) == 0 or said[-1] == 0:
        raise FormatError("a mask without an end")
    bits = np.unpackbits(said, bitorder="little")
    return bits[:np.flatnonzero(bits)[-1]].astype(bool)


def values(raw, dtype, shape, order=0):
    """Such bytes as a NumPy array; bf16 and f8 as their raw bits."""
    return np.frombuffer(raw, DTYPES[dtype][2]).reshape(shape, order="F" if order else "C")


# ---- the text -------------------------------------------------------------------------------------------------------

def show(value):
    """A field of the text. Strings are taken as they are, bytes are a text."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    if isinstance(value, bytes):
        return '"' + "".join(chr(b) if 0x20 <= b <= 0x7E and b not in b'\\"' else f"\\x{b:02x}" for b in value) + '"'
    if isinstance(value, dict):
        return line(*(f"{name}={show(each)}" for name, each in value.items()))
    return line(*value) if isinstance(value, list) else str(value)


def line(*fields):
    return " ".join(show(field) for field in fields if field not in ([], {}))


def text_of_values(data, place):
    what = (place.dtype, place.order, place.shape, place.form)
    try:
        raw = payload(data, place)
    except FormatError:
        return line("corrupt", *what)
    return line("values", *what, raw.hex() or None if len(raw) <= 1024 else f"crc64:{crc64(raw):016x}")


def text_of_row(row, data):
    """The line of a row and those below it."""
    yield line(*(value for name, value in vars(row).items() if name != "more"))
    for more in getattr(row, "more", []):
        yield text_of_values(data, more) if isinstance(more, Record) else line(*more)


# ---- a whole segment, its sidecar, and the program ------------------------------------------------------------------

def flags_of(frame):
    """The flags that the rows of a frame ask for; the flag of a last frame (8) cannot be derived from them."""
    flags = {"run_begin": 1, "declare": 1, "finding": 2, "run_end": 4, "drops": 16, "stay": 64}
    result = frame.flags & 8
    for row in frame.content:
        result |= flags.get(row.kind, 0)
    return result


def read_segment(data):
    """A segment's head, its parts (frames, damage, torn tail), and where they contradict one another."""
    head, problems, parts = read_head(data), [], list(walk(data))
    ordinal = head.first_ordinal
    for part in parts:
        if part.kind != "rows":
            ordinal = None
            continue
        count, part.content = read_rows(part.body)
        closes = [row.ordinal for row in part.content if row.kind == "close"]
        found = sum(row.kind in ("observe", "scalar") for row in part.content)
        if (part.rows, part.closes, part.values, part.flags) != (count, len(closes), found, flags_of(part)):
            problems.append(f"frame {part.offset}: counts or flags that are not those of its rows")
        if closes != list(range(part.first_ordinal, part.first_ordinal + len(closes))) or \
                ordinal not in (None, part.first_ordinal):
            problems.append(f"frame {part.offset}: ordinals out of order")
        ordinal = part.first_ordinal + len(closes)
    return head, parts, problems


def text(data, head, parts):
    """The lines of a segment."""
    yield line("head", head.version, head.draft, head.number, Bits(head.run_id), head.first_ordinal, head.worker,
               head.attempt, head.time)
    for p in parts:
        if p.kind == "damage":
            yield line("damage", p.offset, p.end - p.offset)
        elif p.kind == "torn":
            yield line("torn", p.end - p.offset)
        else:
            yield line("rows", p.offset, p.previous_end, p.first_ordinal, p.rows, p.closes, p.values, p.flags)
            for row in p.content:
                yield from text_of_row(row, data)


def spans_of(frames):
    """For each mode the lowest and the highest step index in the rows of some frames."""
    spans = [[ONES, 0] for _ in MODES]
    for frame in frames:
        for row in frame.content:
            if row.kind != "feature" and getattr(row, "step", None):
                mode, index = row.step
                spans[mode] = [min(spans[mode][0], index), max(spans[mode][1], index)]
    return [bound for span in spans for bound in span]


def check_declarations(rest, parts):
    """What is wrong with the declarations behind the places of a sidecar: offsets count from where they begin."""
    at, declared = 0, []
    while at < len(rest):
        try:
            frame = row_frame(rest, at)
        except FormatError as error:
            return [f"sidecar: no row frame at {at} behind the places: {error}"]
        if frame.previous_end != at:
            return [f"sidecar: the row frame at {at} behind the places does not follow the one before"]
        declared += read_rows(frame.body)[1]
        at = frame.end
    if any(part.kind != "rows" for part in parts):
        return []  # written before the damage
    listed = [row for part in parts for row in part.content if row.kind in ("run_begin", "declare")]
    wanted = {row.id if row.kind == "declare" else -1: row for row in listed}  # the last of each, run_begin first
    if [vars(row) for row in declared] != [vars(wanted[id]) for id in sorted(wanted)]:
        return ["sidecar: declarations that are not the last ones of the segment"]
    return []


def check_sidecar(sidecar, data, parts):
    """What is wrong with a sidecar: places that do not chain, or say other things than the frames."""
    problems, previous = [], 64
    places = len(sidecar) // 112
    for i in range(places):
        if sidecar[112 * i:112 * i + 4] == struct.pack("<I", ROWS):
            places = i
            break
    rest = sidecar[112 * places:]
    problems += check_declarations(rest, parts) if rest else []
    for at in range(0, 112 * places, 112):
        place = struct.unpack_from("<IIQQQQIIII6QQ", sidecar, at)
        magic, count, offset, end, previous_end, *said = place[:-1]
        if magic != PLACE or place[-1] != crc64(sidecar[at:at + 104]):
            problems.append(f"place {at // 112}: magic or checksum")
            break
        if previous_end != previous or end > len(data):
            problems.append(f"place {at // 112}: does not follow the one before, or ends beyond the segment")
            break
        previous = end
        if any(part.kind != "rows" and part.offset < end and part.end > offset for part in parts):
            continue  # written before the damage: what it describes is not there any more
        frames = [part for part in parts if part.kind == "rows" and offset <= part.offset < end]
        if not frames or len(frames) != count:
            problems.append(f"place {at // 112}: {count} frames, not {len(frames)}")
            continue
        ends = [frame.end for frame in frames]
        offsets = [frame.offset for frame in frames]
        found = [frames[0].first_ordinal, sum(f.closes for f in frames), sum(f.rows for f in frames),
                 sum(f.values for f in frames), 0, *spans_of(frames)]
        for frame in frames:
            found[4] |= frame.flags
        if [offset, *ends] != [*offsets, end] or frames[0].previous_end != previous_end or found != said:
            problems.append(f"place {at // 112}: not what its frames say: {said}, not {found}")
    return problems


def compare(path):
    """Prints where a segment differs from its text, and what is wrong with it; true where nothing is."""
    data = path.read_bytes()
    try:
        head, parts, problems = read_segment(data)
        if head.number != int(path.stem):
            problems.append(f"it is number {head.number}")
        sidecar = path.with_suffix(".spotx")
        if sidecar.exists():
            problems += check_sidecar(sidecar.read_bytes(), data, parts)
        found = list(text(data, head, parts))
    except FormatError as error:
        problems, found = [str(error)], None
    if found is not None:
        golden = path.with_suffix(".txt")
        expected = golden.read_text(encoding="ascii").splitlines() if golden.exists() else []
        for i in range(max(len(found), len(expected))):
            ours, theirs = (lines[i] if i < len(lines) else "(end)" for lines in (found, expected))
            if ours != theirs:
                problems.append(f"line {i + 1} differs\n  expected {theirs}\n  read     {ours}")
                break
    for problem in problems:
        print(f"{path}: {problem}")
    return not problems


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 1
    if arguments[0] == "--compare":
        paths = sorted(path for folder in arguments[1:] for path in Path(folder).rglob("*.spot"))
        equal = [compare(path) for path in paths]
        if not paths:
            print("no segments")
        elif all(equal):
            print(f"{len(paths)} segments, all equal")
        return 0 if paths and all(equal) else 1
    for name in arguments:
        try:
            data = Path(name).read_bytes()
            head, parts, _ = read_segment(data)
            print("\n".join(text(data, head, parts)))
        except FormatError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
