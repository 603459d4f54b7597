# SPDX-License-Identifier: Apache-2.0
"""Reads the records of training runs, finished or still being written. One file; needs NumPy and zstandard.

    from spotter_trial import open_trial
    run = open_trial("runs/a")
    steps, loss = run["loss"].history("mean", mode="train")   # NumPy arrays
    w = run["fc1/w"].value("train:100")

A run in an object store is `open_trial("s3://bucket/runs/a")`, read by ranges with boto3, where that is installed.

A trial is a snapshot: what is read from it does not change until `refresh`. It is one thread's. docs/python.md has the whole of it,
docs/format.md the bytes.
"""

from __future__ import annotations

import lzma
import math
import os
import re
import struct
import time
import zlib
from collections import ChainMap
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from types import SimpleNamespace
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np
import zstandard

try:
    import fcntl
except ImportError:  # no locks here: a run without an end reads as running
    fcntl = None

__all__ = ["open_trial", "create_trial", "Trial", "Track", "Step", "Info", "Collection", "Loose", "Distribution", "Finding", "Coverage",
           "Damage", "Totals", "STATISTICS", "SpotterError", "NoSuchName", "NoSuchStep", "NotInStep", "NotYet", "NoMoreData",
           "NoPayload", "NoSuchWorker", "Corrupt", "NotARun", "UnknownVersion", "BadConfig", "IoError"]


# ---- errors: named as in the C++ library; `code` is the name that JSON has ------------------------------------------------------

class SpotterError(Exception):
    """What could not be read, and what to do about it."""
    code = "error"

    def __str__(self):  # a KeyError would put quotes around the sentence
        return str(self.args[0]) if self.args else self.code


class NoSuchName(SpotterError, KeyError):
    code = "no_such_name"


class NoSuchStep(SpotterError, LookupError):
    code = "no_such_step"


class NotInStep(SpotterError, LookupError):
    code = "not_in_step"


class NotYet(SpotterError, LookupError):
    code = "not_yet"


class NoMoreData(SpotterError, LookupError):
    code = "no_more_data"


class NoPayload(SpotterError, LookupError):
    code = "no_payload"


class NoSuchWorker(SpotterError, LookupError):
    code = "no_such_worker"


class Corrupt(SpotterError):
    code = "corrupt"


class NotARun(SpotterError):
    code = "not_a_run"


class UnknownVersion(SpotterError):
    code = "unknown_version"


class BadConfig(SpotterError, ValueError):
    code = "bad_config"


class IoError(SpotterError):
    code = "io_error"


class _Malformed(Exception):
    """A row, frame or payload that is not in order."""


# ---- what a record says ---------------------------------------------------------------------------------------------------------

MODES = ("train", "eval", "predict")
_ROLES = ("other", "loss", "gradient", "weight", "bias", "input", "label", "prediction", "preactivation", "activation", "optimizer",
          "metric", "tree", "importance", "average_shap", "full_shap", "hyperparameter", "timing", "system")
_ACTIVATIONS = ("unknown", "relu", "tanh", "sigmoid", "other")
_FLAGS = ("frozen", "full_batch", "sparse_rows", "logits", "negated", "gathered")


class Step(NamedTuple):
    """A step of a mode. Where a step is asked for, 100 and "100" (of train), "eval:3", "eval(3)" and ("eval", 3) do as well."""
    mode: str
    index: int

    def __str__(self):
        return f"{self.mode}:{self.index}"


AnyStep = Union[Step, Tuple[str, int], str, int]


def _step(wanted: AnyStep) -> Step:
    if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool) and wanted >= 0:
        return Step("train", int(wanted))
    if isinstance(wanted, str):
        found = re.fullmatch(r"(?:(\w+)[:(])?(\d+)\)?", wanted)
        if found and (found[1] or "train") in MODES:
            return Step(found[1] or "train", int(found[2]))
    elif isinstance(wanted, tuple) and len(wanted) == 2 and wanted[0] in MODES and wanted[1] >= 0:
        return Step(wanted[0], int(wanted[1]))
    raise BadConfig(f"{wanted!r} is no step: write it like 100, \"train:100\" or (\"eval\", 3)")


def _mode(wanted: Optional[str]) -> Optional[int]:
    if wanted is not None and wanted not in MODES:
        raise BadConfig(f"there is no mode {wanted!r}: train, eval or predict")
    return None if wanted is None else MODES.index(wanted)


class Info(NamedTuple):
    """A tensor as it was last declared. `partner` is the name of the tensor that it belongs to, such as a gradient's weight."""
    name: str
    role: str
    dtype: str
    shape: Tuple[int, ...]
    partner: Optional[str]
    partner_role: str
    flags: Tuple[str, ...]
    activation: str
    collections: Tuple[str, ...]


class Collection(NamedTuple):
    name: str
    keeps: str  # which tensors, when and what of them, as a sentence


class Loose(NamedTuple):
    """A scalar that was given between steps."""
    time: float  # seconds since 1970
    value: Union[float, complex, str]
    before_ordinal: int  # of the step that closed next


class Distribution(NamedTuple):
    """Of the finite values. None stands for what was not asked for, or not kept."""
    quantiles: Optional[np.ndarray]  # at QUANTILE_LEVELS
    low: Optional[float]  # the histogram's first and last edge
    high: Optional[float]
    bins: Optional[np.ndarray]  # 64 of equal width, the last one closed

    @property
    def edges(self) -> Optional[np.ndarray]:
        return None if self.bins is None else np.linspace(self.low, self.high, len(self.bins) + 1)


class Finding(NamedTuple):
    severity: str
    rule: str
    reason: str
    step: Step
    tensor: str
    measure: str
    measured: float
    how: str
    threshold: float
    remedy: str
    detail: str
    decision: str
    others: int
    worker: int


class Coverage(NamedTuple):
    """How much a rule could judge."""
    rule: str
    matched: int
    judged: int
    undecided: int
    fired: int
    reason: str
    worker: int  # the lowest of those that it is of
    workers: int  # how many say the same; their counts add up


class Damage(NamedTuple):
    """Bytes that could not be read. 0 bytes: a whole file, or a worker's folder."""
    file: str
    offset: int
    bytes: int


class Totals(NamedTuple):
    """Over all attempts; `bytes` of all segments."""
    stored: int = 0
    dropped: int = 0
    thinned: int = 0
    closes_lost: int = 0
    refused: int = 0
    bytes: int = 0


# ---- bytes ------------------------------------------------------------------------------------------------------------------------

_HEAD, _ROWS, _ZSTD, _PLACE = 0x184D2A50, 0x184D2A51, 0xFD2FB528, 0x32585053
_HEAD_BYTES, _BLOCK, _GROUP = 64, 256 * 1024, 16 * 1024
_ONES = (1 << 64) - 1
_DECLARES, _FINDINGS, _RUN_END, _LAST, _DROPS, _THINNED = 1, 2, 4, 8, 16, 32  # flags of a row frame

# dtype: name, bytes of an element, bytes that are split into planes, as NumPy stores it
_DTYPES = (("none", 0, 0, "V0"), ("bool", 1, 1, "u1"), ("i8", 1, 1, "i1"), ("i16", 2, 2, "<i2"), ("i32", 4, 4, "<i4"),
           ("i64", 8, 8, "<i8"), ("u8", 1, 1, "u1"), ("u16", 2, 2, "<u2"), ("u32", 4, 4, "<u4"), ("u64", 8, 8, "<u8"),
           ("f16", 2, 2, "<f2"), ("bf16", 2, 2, "<u2"), ("f32", 4, 4, "<f4"), ("f64", 8, 8, "<f8"), ("c64", 8, 4, "<c8"),
           ("c128", 16, 8, "<c16"), ("f8_e4m3", 1, 1, "u1"), ("f8_e5m2", 1, 1, "u1"), ("text", 1, 1, "S1"))
_BOOL, _BF16, _E4M3, _E5M2, _TEXT = 1, 11, 16, 17, 18


def _xz_stream_start() -> bytes:
    flags, block = b"\x00\x04", b"\x02\x00\x21\x01\x00\x00\x00\x00"  # CRC-64; one filter, LZMA2 with 4 KiB
    return (b"\xFD7zXZ\x00" + flags + struct.pack("<I", zlib.crc32(flags)) + block + struct.pack("<I", zlib.crc32(block)))


_XZ_START = _xz_stream_start()


def _has_checksum(data: bytes, checksum: bytes) -> bool:
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


class _Fields:
    """Reads fields from the bytes of a row, one after the other."""
    __slots__ = ("data", "at")

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        end = self.at + size
        if end > len(self.data):
            raise _Malformed("a field runs beyond its row")
        taken = self.data[self.at:end]
        self.at = end
        return taken

    def u8(self, most=255):
        if self.at >= len(self.data):
            raise _Malformed("a field runs beyond its row")
        value = self.data[self.at]
        if value > most:
            raise _Malformed(f"{value} where there is nothing above {most}")
        self.at += 1
        return value

    def fixed(self, layout, size):
        return struct.unpack("<" + layout, self.take(size))

    def f64(self):
        return self.fixed("d", 8)[0]

    def varint(self, most=_ONES):
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
            raise _Malformed("a varint runs beyond its row") from None
        if value > most or shift > 63 or (byte == 0 and shift):
            raise _Malformed("a varint that is too large, or not in its shortest spelling")
        self.at = at
        return value

    def text(self):
        return self.take(self.varint()).decode("utf-8", "backslashreplace")

    def step(self):
        return self.u8(2), self.varint()

    def shape(self):
        shape = tuple(self.varint() for _ in range(self.u8(8)))
        if math.prod(size or 1 for size in shape) > 1 << 56:
            raise _Malformed("a shape beyond any memory")
        return shape


# ---- rows -------------------------------------------------------------------------------------------------------------------------

# Of the fields behind `count` in a summary those that are always there with their term: bit, names.
_DOUBLES = ((4, ("minimum", "maximum")), (8, ("abs_minimum", "abs_maximum")), (16, ("sum",)), (32, ("sum_abs",)),
            (64, ("sum_squares",)), (128, ("moment2",)), (256, ("product",)))
_NONFINITE, _ZEROS, _DELTA, _HASH, _ALL_TERMS = 1, 2, 512, 1024, 2047


@lru_cache(maxsize=None)
def _doubles_of(mask):
    return tuple(name for bit, names in _DOUBLES if mask & bit for name in names)


def _read_summary(f: _Fields, mask: int, count: int, finite=False) -> dict:
    """The fields behind `count` by name; finite: without the counts of what is not."""
    found = {"mask": mask, "count": count}
    if mask & _NONFINITE and finite:
        found["nan"] = found["pos_inf"] = found["neg_inf"] = 0
    elif mask & _NONFINITE:
        found["nan"] = f.varint(count)
        found["pos_inf"] = f.varint(count - found["nan"])
        found["neg_inf"] = f.varint(count - found["nan"] - found["pos_inf"])
        if found["nan"] or found["pos_inf"] or found["neg_inf"]:
            found["first_bad"] = f.varint()
    if mask & _ZEROS:
        found["zeros"] = f.varint()
    names = _doubles_of(mask)
    if names:
        found.update(zip(names, f.fixed("%dd" % len(names), 8 * len(names))))
    if mask & _DELTA and f.u8(1):
        found["previous_index"] = f.varint()
        found.update(zip(("previous_sum_squares", "delta_sum_squares", "dot"), f.fixed("3d", 24)))
        found["changed"] = f.varint()
    if mask & _HASH:
        found["hash"] = f.fixed("Q", 8)[0]
    return found


class _Place(NamedTuple):
    """Where values are: those of their own frames, exclusive or those of the bases."""
    dtype: int
    order: str
    shape: Tuple[int, ...]
    parts: Tuple[Tuple[int, int, int], ...]  # offset, bytes, planes; the values' own first


class _Sample:
    """One observation or scalar: what its row says."""
    __slots__ = ("id", "mode", "index", "loose", "dtype", "raw", "time", "summary", "thinned", "quantiles", "histogram", "shape",
                 "place")

    def __init__(self):
        self.loose = self.thinned = False
        self.dtype = self.raw = self.time = self.summary = self.quantiles = self.histogram = self.shape = self.place = None


def _read_observe(body: bytes) -> _Sample:
    f, it = _Fields(body), _Sample()
    bits = f.u8(127)
    it.id = f.varint(0xFFFFFFFE)
    it.mode, it.index = f.step()
    it.thinned = bool(bits & 4)
    mask = f.varint(_ALL_TERMS)
    it.summary = _read_summary(f, mask, f.varint())
    if bits & 1:
        units = f.varint()
        f.take(1 + 8 * units)
    if bits & 8:
        it.quantiles = f.take(8 * f.varint())
    if bits & 16:
        bins = f.varint(f.left())
        it.histogram = (f.f64(), f.f64(), [f.varint() for _ in range(bins)])
    if bits & 32:
        it.shape = f.shape()
    if bits & 2:
        dtype, order, it.shape, planes = f.u8(_TEXT), f.u8(1), f.shape(), f.u8()
        parts = [(f.varint(), f.varint(), planes)]
        if bits & 64:
            for _ in range(f.varint(64)):
                distance = f.varint(parts[-1][0])
                parts.append((parts[-1][0] - distance, f.varint(), f.u8()))
            if len(parts) == 1:
                raise _Malformed("a difference to nothing")
        if dtype == 0 or planes not in (1, _DTYPES[dtype][2]):
            raise _Malformed("values of no type, or in planes that it has not")
        it.place = _Place(dtype, "CF"[order], it.shape, tuple(parts))
    return it


def _read_scalar(body: bytes) -> _Sample:
    f, it = _Fields(body), _Sample()
    bits = f.u8(3)
    it.id, it.loose = f.varint(0xFFFFFFFE), not bits & 1
    it.mode, it.index = (0, 0) if it.loose else f.step()
    it.dtype = f.u8(_TEXT)
    it.raw = f.take(f.varint())
    it.time = f.f64() if bits & 2 else None
    if it.dtype == 0 or (it.dtype != _TEXT and len(it.raw) != _DTYPES[it.dtype][1]):
        raise _Malformed("a scalar that has not the size of its type")
    return it


class _Item(NamedTuple):
    """What a template of packed steps says of one or more rows. `size` is of each row; None where that differs from step to step."""
    scalar: bool
    timed: bool
    first: int
    ids: int
    dtype: int
    mask: int
    count: int
    finite: bool
    size: Optional[int]


@lru_cache(maxsize=4096)  # templates repeat from row to row
def _read_template(data: bytes) -> Tuple[_Item, ...]:
    f, items = _Fields(data), []
    while f.left():
        kind, first = f.u8(4), f.varint(0xFFFFFFFE)
        if kind in (1, 2):
            count, dtype = f.varint(0xFFFFFFFF - first), f.u8(_TEXT - 1)
            if count == 0 or dtype == 0:
                raise _Malformed("a template of no scalars, or of no type")
            items.append(_Item(True, kind == 2, first, count, dtype, 0, 0, False, _DTYPES[dtype][1] + 8 * (kind == 2)))
        elif kind in (3, 4):
            mask, count, finite = f.varint(_ALL_TERMS), f.varint(), kind == 4
            fixed = not mask & (_ZEROS | _DELTA) and (finite or not mask & _NONFINITE)
            size = 8 * len(_doubles_of(mask)) + 8 * bool(mask & _HASH)
            items.append(_Item(False, False, first, 1, 0, mask, count, finite, size if fixed else None))
        else:
            raise _Malformed("an unknown item")
    return tuple(items)


class _Column(NamedTuple):
    """The rows of one tensor in packed steps: of some of the steps, item by item."""
    of: "_Packed"
    steps: np.ndarray  # which of the packed steps each row is of
    parts: list  # (item, place of each row's bytes), in the order of `order`
    order: Optional[np.ndarray]  # sorts the rows of several parts by step

    def joined(self, pieces):
        whole = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
        return whole if self.order is None else whole[self.order]

    def fields(self) -> dict:
        """The summaries of all rows: an array a field, those of scalars as if they were tensors of one element."""
        found = [self.of.fields_of(item, at) for item, at in self.parts]
        names = set(found[0]).union(*found)
        return {name: self.joined([each.get(name, np.zeros(len(each["count"]))) for each in found]) for name in names}

    def times(self) -> np.ndarray:
        """As given with scalars, else of the step's close."""
        given = self.joined([self.of.gather(at + _DTYPES[item.dtype][1], "<f8")[:, 0] if item.timed else np.full(len(at), np.nan)
                             for item, at in self.parts])
        timed = self.joined([np.full(len(at), item.timed) for item, at in self.parts])
        return np.where(timed, given, self.of.times[self.steps])

    def sample(self, row: int) -> _Sample:
        row = row if self.order is None else int(self.order[row])
        for item, at in self.parts:
            if row < len(at):
                return self.of.sample_of(item, int(at[row]))
            row -= len(at)
        raise IndexError(row)


class _Packed:
    """A row of kind 10: closed steps of scalars and summaries, in columns. The values stay in the row's bytes until they are asked for."""

    def __init__(self, body: bytes):
        f = _Fields(body)
        steps, self.start = f.varint(65536), f.varint()
        first, last = f.fixed("2d", 16)
        if self.start + steps > _ONES:
            raise _Malformed("ordinals beyond the last")
        modes, indices, left = [], [], steps
        for _ in range(f.varint(steps)):
            (mode, index), stride, count = f.step(), f.varint(), f.varint(left)
            left -= count
            modes.append(np.full(count, mode, np.uint8))
            indices.append(np.uint64(index) + np.uint64(stride) * np.arange(count, dtype=np.uint64))
        self.templates = [_read_template(f.take(f.varint())) for _ in range(f.varint(steps))]
        if not steps or not self.templates or left:
            raise _Malformed("packed steps that do not fit together")
        self.steps, self.body, self.data = steps, body, np.frombuffer(body, np.uint8)
        numbers = self._take_numbers(f)
        self.modes, self.indices = np.concatenate(modes), np.concatenate(indices)
        self.ordinals = np.uint64(self.start) + np.arange(steps, dtype=np.uint64)
        self.times = first + (last - first) * (np.arange(steps) / max(steps - 1, 1))
        self.times[-1] = last
        self.next = self.start + steps
        self._place_values(f.at, numbers)

    def _take_numbers(self, f) -> np.ndarray:
        """Of each step its template."""
        count = len(self.templates)
        if count == 1:
            return np.zeros(self.steps, np.int64)
        numbers = self.data[f.at:f.at + self.steps]
        if len(numbers) == self.steps and numbers.max() < min(count, 128):  # all of one byte
            f.at += self.steps
            return numbers.astype(np.int64)
        return np.fromiter((f.varint(count - 1) for _ in range(self.steps)), np.int64)

    def _place_values(self, at: int, numbers: np.ndarray):
        """For each item of each template the steps that have it, and the places of its rows there."""
        varies = np.array([any(item.size is None for item in items) for items in self.templates])
        sizes = np.array([sum((item.size or 0) * item.ids for item in items) for items in self.templates])
        widths = np.where(varies[numbers], 0, sizes[numbers])
        found: Dict[int, list] = {number: [[] for _ in self.templates[number]] for number in np.flatnonzero(varies).tolist()}
        f, before = _Fields(self.body), at + np.cumsum(widths) - widths
        grown = 0
        for step in np.flatnonzero(varies[numbers]).tolist():  # one by one only those whose size differs
            number = int(numbers[step])
            begin = f.at = int(before[step]) + grown
            for item, places in zip(self.templates[number], found[number]):
                places.append(f.at)
                if item.size is None:
                    _read_summary(f, item.mask, item.count, item.finite)
                else:
                    f.take(item.size * item.ids)
            widths[step] = f.at - begin
            grown += f.at - begin
        begins = at + np.cumsum(widths) - widths
        if begins[-1] + widths[-1] > len(self.body):
            raise _Malformed("packed values that run beyond their row")
        self.items = []
        for number, items in enumerate(self.templates):
            steps = np.flatnonzero(numbers == number)
            places = begins[steps]
            for i, item in enumerate(items):
                self.items.append((item, steps, np.array(found[number][i], np.int64) if number in found else places))
                places = places + (item.size or 0) * item.ids

    def hold(self):
        """Marks the steps at which anything was kept, though the declaration that names it may be lost."""
        self.held = np.zeros(self.steps, bool)
        for item, steps, _ in self.items:
            if item.ids:
                self.held[steps] = True

    def ids(self) -> Iterator[int]:
        for item, steps, _ in self.items:
            if len(steps):  # one that no step takes may claim any number of them
                yield from range(item.first, item.first + item.ids)

    def column(self, wanted: int) -> Optional[_Column]:
        parts, steps = [], []
        for item, its_steps, at in self.items:
            if item.first <= wanted < item.first + item.ids and len(its_steps):
                parts.append((item, at + (wanted - item.first) * item.size if item.scalar else at))
                steps.append(its_steps)
        if not parts:
            return None
        if len(parts) == 1:
            return _Column(self, steps[0], parts, None)
        all_steps = np.concatenate(steps)
        order = np.argsort(all_steps, kind="stable")
        return _Column(self, all_steps[order], parts, order)

    def gather(self, at: np.ndarray, dtype: str, count=1) -> np.ndarray:
        """So many elements of some type from each of some places on."""
        return self.data[at[:, None] + np.arange(count * np.dtype(dtype).itemsize)].view(dtype)

    def fields_of(self, item: _Item, at: np.ndarray) -> dict:
        if item.scalar:
            return _summaries_of_scalars(_decoded(self.gather(at, _DTYPES[item.dtype][3])[:, 0], item.dtype))
        if item.size is None:
            rows = [_read_summary(_Fields(self.body, int(each)), item.mask, item.count, item.finite) for each in at]
            return {name: np.array([row.get(name, 0) for row in rows]) for name in set().union(*rows)}
        found = {"mask": np.full(len(at), item.mask), "count": np.full(len(at), item.count)}
        names = _doubles_of(item.mask)
        if names:
            found.update(zip(names, self.gather(at, "<f8", len(names)).T))
        return found

    def sample_of(self, item: _Item, at: int) -> _Sample:
        it = _Sample()
        if item.scalar:
            size = _DTYPES[item.dtype][1]
            it.dtype, it.raw = item.dtype, self.body[at:at + size]
            it.time = struct.unpack_from("<d", self.body, at + size)[0] if item.timed else None
        else:
            it.summary = _read_summary(_Fields(self.body, at), item.mask, item.count, item.finite)
        return it

    def last_at(self, wanted: int, mode: int, index: int):
        """The last row of a tensor at a step: its place in the order of this row, ordinal and what it says; None where there is none."""
        if not np.any((self.indices == index) & (self.modes == mode)):
            return None
        column = self.column(wanted)
        if column is None:
            return None
        rows = np.flatnonzero((self.indices[column.steps] == index) & (self.modes[column.steps] == mode))
        if not len(rows):
            return None
        return int(self.ordinals[column.steps[rows[-1]]]), column.sample(int(rows[-1]))


class _Plain:
    """Rows that stand for themselves, one after the other in a frame."""

    def __init__(self, ordinal: int):
        self.start = self.next = ordinal
        self.entries: Dict[int, list] = {}  # by the writer's id: (mode, index, ordinal, kind, body)
        self.closes: list = []  # (mode, index, ordinal, time, held: anything was kept)
        self.open_held = False  # anything was kept behind the last close

    def add(self, sample: _Sample, body: bytes):
        kind = _LOOSE if sample.loose else _SCALAR if sample.dtype is not None else _OBSERVED if sample.place is None else _VALUES
        self.entries.setdefault(sample.id, []).append((sample.mode, sample.index, self.next, kind, body))

    def close(self, f: _Fields):
        (mode, index), _, ordinal, when = f.step(), f.varint(0xFFFFFFFF), f.varint(_ONES - 1), f.f64()
        self.closes.append((mode, index, ordinal, when, self.open_held))
        self.next, self.open_held = ordinal + 1, False

    def ids(self):
        return self.entries

    def last_at(self, wanted: int, mode: int, index: int):
        for entry in reversed(self.entries.get(wanted, ())):
            if entry[0] == mode and entry[1] == index and entry[3] != _LOOSE:
                return entry[2], _sample_of(entry)
        return None


_OBSERVED, _VALUES, _SCALAR, _LOOSE = range(4)  # what an entry is


def _sample_of(entry) -> _Sample:
    return (_read_scalar if entry[3] in (_SCALAR, _LOOSE) else _read_observe)(entry[4])


def _each_row(body: bytes) -> Iterator[Tuple[int, int, bytes]]:
    """Kind, place and bytes of each row in a frame."""
    f = _Fields(body)
    try:
        while f.left():
            kind = f.u8()
            row = f.take(f.varint())
            yield kind, f.at - len(row), row
    except _Malformed:
        return


# ---- values -----------------------------------------------------------------------------------------------------------------------

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


_F8 = {_E4M3: _small_floats(4, 3, False), _E5M2: _small_floats(5, 2, True)}


def _decoded(stored: np.ndarray, dtype: int) -> np.ndarray:
    """Stored elements as NumPy has them: bf16 and f8 become float32."""
    if dtype == _BOOL:
        return stored != 0
    if dtype == _BF16:
        return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _F8[dtype][stored] if dtype in _F8 else stored


def _zstd_frame(data, at: int, end: int) -> Tuple[int, int]:
    """Content size and end of the zstd frame at a place, by its headers. IndexError: it goes on beyond `end`."""
    def number(at, size):
        if at + size > end:
            raise IndexError(at)
        return int.from_bytes(data[at:at + size], "little")

    if number(at, 4) != _ZSTD:
        raise _Malformed("no zstd frame")
    descriptor = number(at + 4, 1)
    single = descriptor >> 5 & 1
    size = (single, 2, 4, 8)[descriptor >> 6]
    if size == 0 or not descriptor & 4 or descriptor & 0b11011:
        raise _Malformed("a zstd frame without content size or checksum, or with a dictionary")
    at += 6 - single
    content = number(at, size) + (256 if size == 2 else 0)
    at, last = at + size, 0
    while not last:
        header = number(at, 3)
        last, block, length = header & 1, header >> 1 & 3, header >> 3
        if block == 3 or length > 1 << 17:
            raise _Malformed("a block of a reserved type, or too large")
        at += 3 + (1 if block == 1 else length)
    number(at, 4)
    return content, at + 4


def _unpack(data: bytes, planes: int, total: int, first: int, size: int) -> np.ndarray:
    """Of a payload of `total` bytes `size` from byte `first` on: only the blocks that hold them are decompressed."""
    out, at, begin, decoder, whole = np.empty(size, np.uint8), 0, 0, zstandard.ZstdDecompressor(), 0
    try:
        while at < len(data) and (begin < first + size or size == total):
            frames = []
            for _ in range(planes):
                content, end = _zstd_frame(data, at, len(data))
                frames.append((content, at, end))
                at = end
            block = content * planes
            if block == 0 or block > _BLOCK or any(each[0] != content for each in frames) or (whole and block > whole):
                raise _Malformed("blocks of sizes that do not fit together")
            whole = whole or block
            if begin < first + size and begin + block > first:
                values = np.empty((content, planes), np.uint8)
                for plane, (_, start, stop) in enumerate(frames):
                    values[:, plane] = np.frombuffer(decoder.decompress(data[start:stop]), np.uint8)
                low, high = max(begin, first), min(begin + block, first + size)
                out[low - first:high - first] = values.reshape(-1)[low - begin:high - begin]
            begin += block
    except (zstandard.ZstdError, IndexError, ValueError) as why:
        raise _Malformed(str(why)) from why
    if begin < first + size or (size == total and begin != total):
        raise _Malformed("values that do not have the size of their shape")
    return out


# ---- statistics: the definitions of docs/stat.md, to the bit --------------------------------------------------------------------------

def _seen(values: np.ndarray) -> SimpleNamespace:
    """Elements as the statistics see them, in doubles: what is not finite has value, size and square 0."""
    with np.errstate(all="ignore"):
        if np.iscomplexobj(values):
            real, imaginary = values.real.astype(np.float64), values.imag.astype(np.float64)
            nan = np.isnan(real) | np.isnan(imaginary)
            negative = ~nan & ((real == -np.inf) | (imaginary == -np.inf))
            positive = ~nan & ~negative & ((real == np.inf) | (imaginary == np.inf))
            finite = ~(nan | negative | positive)
            square = np.where(finite, real * real + imaginary * imaginary, 0.0)
            return SimpleNamespace(value=np.where(finite, real, 0.0), size=np.sqrt(square), square=square, finite=finite, nan=nan,
                                   pos_inf=positive, neg_inf=negative, zero=finite & (real == 0) & (imaginary == 0))
        wide = values.astype(np.float64)
        nan, positive, negative = np.isnan(wide), wide == np.inf, wide == -np.inf
        finite = ~(nan | positive | negative)
        value = np.where(finite, wide, 0.0)
        return SimpleNamespace(value=value, size=np.abs(value), square=value * value, finite=finite, nan=nan, pos_inf=positive,
                               neg_inf=negative, zero=finite & (wide == 0))


def _summaries_of_scalars(values: np.ndarray) -> dict:
    """For each value the summary of a tensor that holds nothing else."""
    seen = _seen(values)
    plus_zero = seen.value + 0.0  # a sum begins at 0, so there is no -0
    return {"mask": np.full(len(values), _ALL_TERMS & ~(_DELTA | _HASH)), "count": np.ones(len(values), np.int64), "nan": seen.nan,
            "pos_inf": seen.pos_inf, "neg_inf": seen.neg_inf, "zeros": seen.zero, "minimum": plus_zero, "maximum": plus_zero,
            "abs_minimum": seen.size, "abs_maximum": seen.size, "sum": plus_zero, "sum_abs": seen.size, "sum_squares": seen.square,
            "moment2": np.zeros(len(values)), "product": np.where(seen.finite, seen.value, 1.0)}


def _lane_sums(blocks: np.ndarray) -> np.ndarray:
    """Of blocks x rows x 16 elements the 16 sums of each block, row after row."""
    sums = np.zeros((blocks.shape[0], 16))
    for row in range(blocks.shape[1]):
        sums += blocks[:, row]
    return sums


def _fold(lanes: np.ndarray) -> np.ndarray:
    while lanes.shape[-1] > 1:
        half = lanes.shape[-1] // 2
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]


def _summary_of(values: np.ndarray) -> dict:
    """The summary of values in the order of memory: every sum in 16 lanes and blocks of 1024, as when it is taken while recording."""
    rows = 64 if len(values) >= 1024 else max(1, -(-len(values) // 16))
    found = dict.fromkeys(("nan", "pos_inf", "neg_inf", "zeros"), 0)
    lanes = {"sum": np.zeros(16), "sum_abs": np.zeros(16), "sum_squares": np.zeros(16)}
    ranges, product, count, mean, moment2 = [], 1.0, 0.0, 0.0, 0.0
    for start in range(0, len(values), 1 << 18):
        seen = _seen(values[start:start + (1 << 18)])
        for name, each in (("nan", seen.nan), ("pos_inf", seen.pos_inf), ("neg_inf", seen.neg_inf), ("zeros", seen.zero)):
            found[name] += int(each.sum())
        if seen.finite.any():
            value, size = seen.value[seen.finite], seen.size[seen.finite]
            ranges.append((value.min(), value.max(), size.min(), size.max()))
            with np.errstate(all="ignore"):
                product = np.multiply.accumulate(np.concatenate(([product], value)))[-1]
        blocks = -(-len(seen.value) // (16 * rows))

        def shaped(each):
            return np.concatenate((each, np.zeros(blocks * rows * 16 - len(each), each.dtype))).reshape(blocks, rows, 16)

        with np.errstate(all="ignore"):
            sums = _lane_sums(shaped(seen.value))
            for name, each in (("sum", sums), ("sum_abs", _lane_sums(shaped(seen.size))),
                               ("sum_squares", _lane_sums(shaped(seen.square)))):
                lanes[name] = np.add.accumulate(np.concatenate((lanes[name][None], each)))[-1]
            finite = shaped(seen.finite)
            counts = finite.sum(axis=(1, 2)).astype(np.float64)
            centres = _fold(sums) / counts
            gaps = np.where(finite, shaped(seen.value) - centres[:, None, None], 0.0)
            about = _fold(_lane_sums(gaps * gaps))
        for more, centre, around in zip(counts.tolist(), centres.tolist(), about.tolist()):
            if more > 0:  # Chan, Golub & LeVeque 1979
                total, gap = count + more, centre - mean
                mean += gap * (more / total)
                moment2 += around + gap * gap * (count * more / total)
                count = total
    if ranges:
        low, high, small, large = zip(*ranges)
        found.update(minimum=min(low) + 0.0, maximum=max(high) + 0.0, abs_minimum=min(small), abs_maximum=max(large))
    else:
        found.update(minimum=0.0, maximum=0.0, abs_minimum=0.0, abs_maximum=0.0)
    found.update({name: _fold(each) for name, each in lanes.items()})
    return {"mask": _ALL_TERMS & ~(_DELTA | _HASH), "count": len(values), "moment2": moment2, "product": product, **found}


def _variance_abs(s):
    centre, centre_abs = s["sum"] / s["finite"], s["sum_abs"] / s["finite"]
    return np.maximum(s["moment2"] / s["finite"] + (centre - centre_abs) * (centre + centre_abs), 0.0)


# name: terms that it needs, what there has to be of for it to be known, how it follows from a summary
_STATISTICS = {
    "minimum": (4, "finite", lambda s: s["minimum"]), "minimum_abs": (8, "finite", lambda s: s["abs_minimum"]),
    "maximum": (4, "finite", lambda s: s["maximum"]), "maximum_abs": (8, "finite", lambda s: s["abs_maximum"]),
    "mean": (16, "finite", lambda s: s["sum"] / s["finite"]), "mean_abs": (32, "finite", lambda s: s["sum_abs"] / s["finite"]),
    "stddev": (144, "finite", lambda s: np.sqrt(s["moment2"] / s["finite"])),
    "stddev_abs": (176, "finite", lambda s: np.sqrt(_variance_abs(s))),
    "variance": (144, "finite", lambda s: s["moment2"] / s["finite"]), "variance_abs": (176, "finite", _variance_abs),
    "sum": (16, None, lambda s: s["sum"]), "sum_abs": (32, None, lambda s: s["sum_abs"]),
    "product": (256, None, lambda s: s["product"]), "product_abs": (256, None, lambda s: np.abs(s["product"])),
    "l1": (32, None, lambda s: s["sum_abs"]), "l2": (64, None, lambda s: np.sqrt(s["sum_squares"])),
    "nonfinite": (1, None, lambda s: s["count"] - s["finite"]), "zeros": (2, None, lambda s: s["zeros"]),
    "zero_fraction": (2, "finite", lambda s: s["zeros"] / s["finite"]), "nan_count": (1, None, lambda s: s["nan"]),
    "pos_inf": (1, None, lambda s: s["pos_inf"]), "neg_inf": (1, None, lambda s: s["neg_inf"]),
}
STATISTICS = tuple(_STATISTICS)
_FIELDS_OF_SUMMARY = ("mask", "count", "nan", "pos_inf", "neg_inf", "zeros") + _doubles_of(_ALL_TERMS)


def _statistic(name: str):
    plain = name[7:-1] if name.startswith("of_abs(") and name.endswith(")") else ""  # C++ has minimum_abs as of_abs(minimum), too
    try:
        return _STATISTICS[f"{plain}_abs" if plain else name]
    except KeyError:
        raise BadConfig(f"there is no statistic {name!r}; there are {' '.join(STATISTICS)}") from None


def _measured(which, summaries: dict) -> np.ndarray:
    """A statistic of many summaries, an array a field; NaN and not known where it is unknown."""
    needs, over, formula = which
    s = {name: np.asarray(summaries.get(name, 0), np.float64) for name in _FIELDS_OF_SUMMARY[1:]}
    s["finite"] = s["count"] - (s["nan"] + s["pos_inf"] + s["neg_inf"])
    known = (np.asarray(summaries["mask"], np.int64) & needs) == needs
    if over:
        known = known & (s[over] > 0)
    with np.errstate(all="ignore"):
        return np.where(known, formula(s), np.nan), known


QUANTILE_LEVELS = np.array([0, 1, 10, 50, 100, 200, 250, 300, 400, 500, 600, 700, 750, 800, 900, 950, 990, 999, 1000]) / 1000


def _distribution_of(values: np.ndarray, quantiles: bool, histogram: bool) -> Optional[Distribution]:
    seen = _seen(values)
    finite = np.sort(seen.value[seen.finite]) + 0.0
    count = len(finite)
    if count == 0:
        return None
    levels = low = high = bins = None
    if quantiles:
        ranks = [-(-count * int(round(level * 1000)) // 1000) for level in QUANTILE_LEVELS]
        levels = finite[np.maximum(np.array(ranks) - 1, 0)]
    if histogram:
        low, high = float(finite[0]), float(finite[-1])
        width = high * 0.5 - low * 0.5
        places = np.zeros(count, np.int64)
        if width > 0:
            places = np.minimum(((finite * 0.5 - low * 0.5) / width * 64).astype(np.int64), 63)
        bins = np.bincount(places, minlength=64)
    return Distribution(levels, low, high, bins)


# ---- a segment --------------------------------------------------------------------------------------------------------------------

class _Frame(NamedTuple):
    """A row frame; `body` holds its rows and begins at `body_at`."""
    offset: int
    end: int
    previous_end: int
    first_ordinal: int
    closes: int
    flags: int
    body: bytes


class _Group:
    """Row frames that follow one another without payload between them. `spans` of modes: lowest and highest step index; None where
    that is not known."""
    __slots__ = ("offset", "end", "frames", "first_ordinal", "closes", "flags", "spans", "pieces")

    def __init__(self, offset, end, frames, first_ordinal, closes, flags, spans=None):
        self.offset, self.end, self.frames, self.first_ordinal = offset, end, frames, first_ordinal
        self.closes, self.flags, self.spans, self.pieces = closes, flags, spans, None

    def may_hold(self, mode, index):
        return self.spans is None or self.spans[2 * mode] <= index <= self.spans[2 * mode + 1]


_PLACE_FIELDS = np.dtype([("magic", "<u4"), ("frames", "<u4"), ("offset", "<u8"), ("end", "<u8"), ("previous_end", "<u8"),
                          ("first_ordinal", "<u8"), ("closes", "<u4"), ("rows", "<u4"), ("values", "<u4"), ("flags", "<u4"),
                          ("spans", "<u8", 6), ("checksum", "<u8")])


class _Bytes:
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


def _row_frame(data: _Bytes, at: int) -> Optional[_Frame]:
    """The row frame at a place, if it is whole, sound and says that it belongs there."""
    head = data[at:at + 48]
    if len(head) < 48:
        return None
    magic, size, offset, previous_end, first_ordinal, _, closes, _, flags = struct.unpack("<IIQQQIIII", head)
    end = at + 8 + size
    if magic != _ROWS or offset != at or previous_end > at or size < 48 or end > data.end:
        return None
    whole = data[at:end]
    if len(whole) < end - at or not _has_checksum(whole[:-8], whole[-8:]):
        return None
    return _Frame(at, end, previous_end, first_ordinal, closes, flags, whole[48:-8])


class _Walk:
    """Goes through a segment from row frame to row frame, over damage and up to a torn tail, as docs/format.md says: yields frames, and
    (offset, bytes) of damage. `good_end` is behind the last good frame."""

    def __init__(self, data: _Bytes, start: int):
        self.data, self.good_end, self.chained = data, start, start == _HEAD_BYTES

    def __iter__(self):
        at, data = self.good_end, self.data
        while at < data.end:
            try:
                if data[at:at + 4] == struct.pack("<I", _ZSTD):
                    at = _zstd_frame(data, at, data.end)[1]
                    continue
                frame, cut = _row_frame(data, at), False
                if frame is None or (self.chained and frame.previous_end != self.good_end):
                    frame, cut = None, self._is_cut(at)
            except _Malformed:
                frame, cut = None, False
            except IndexError:
                frame, cut = None, True
            if frame is None:
                frame = self._search()
                if frame is None:
                    if not cut:
                        yield self.good_end, data.end - self.good_end
                        self.good_end = data.end
                    return
                yield self.good_end, frame.offset - self.good_end
            self.chained = True
            at = self.good_end = frame.end
            yield frame

    def _is_cut(self, at):
        """Whether what begins there is a skippable frame that goes on beyond the end."""
        head = self.data[at:at + 8]
        if len(head) < 8:
            return len(head) < 4 or head[:4] in (struct.pack("<I", _ROWS), struct.pack("<I", _HEAD))
        magic, size = struct.unpack("<II", head)
        return magic in (_ROWS, _HEAD) and at + 8 + size > self.data.end

    def _search(self) -> Optional[_Frame]:
        at, magic = self.good_end, struct.pack("<I", _ROWS)
        while at < self.data.end:
            piece = self.data[at:at + _Bytes.PIECE]
            found = piece.find(magic)
            if found < 0:
                at += max(len(piece) - 3, 1)
                continue
            frame = _row_frame(self.data, at + found)
            if frame is not None:
                return frame
            at += found + 1
        return None


class _StorePath:
    """A place in an object store, as far as a reader needs of a path. Lists are a second old at most."""

    def __init__(self, client, bucket: str, key: str, listings: dict):
        self.client, self.bucket, self.key, self.listings = client, bucket, key, listings

    @staticmethod
    def of(text: str) -> "_StorePath":
        try:
            import boto3
        except ImportError as why:
            raise IoError(f"{text} is read with boto3, which is not installed: pip install boto3") from why
        bucket, _, key = text[len("s3://"):].partition("/")
        return _StorePath(boto3.client("s3"), bucket, key.strip("/"), {})

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    def __eq__(self, other) -> bool:
        return isinstance(other, _StorePath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str) -> "_StorePath":
        return _StorePath(self.client, self.bucket, f"{self.key}/{name}", self.listings)

    @property
    def parent(self) -> "_StorePath":
        return _StorePath(self.client, self.bucket, self.key.rpartition("/")[0], self.listings)

    def with_suffix(self, suffix: str) -> "_StorePath":
        return _StorePath(self.client, self.bucket, self.key.rpartition(".")[0] + suffix, self.listings)

    def ask(self, call: str, **of):
        """The answer; None where there is nothing of that name."""
        from botocore.exceptions import BotoCoreError, ClientError
        try:
            return getattr(self.client, call)(Bucket=self.bucket, **of)
        except ClientError as why:
            code = why.response["Error"]["Code"]
            if code in ("404", "NoSuchKey"):
                return None
            raise IoError(f"{self}: the object store says {code}") from None
        except BotoCoreError as why:
            raise IoError(f"{self}: {type(why).__name__}: is the store there, and are there keys for it?") from None

    def listed(self) -> dict:
        """Key to (size, etag) of all that is below the run; asked anew where it is a second old."""
        for prefix, (when, found) in self.listings.items():
            if (self.key + "/").startswith(prefix) and time.monotonic() - when < 1:
                return found
        prefix = next((each for each in self.listings if (self.key + "/").startswith(each)), self.key + "/")
        found, token = {}, {}
        while True:
            answer = self.ask("list_objects_v2", Prefix=prefix, **token) or {}
            found.update((each["Key"], (each["Size"], each["ETag"])) for each in answer.get("Contents", []))
            if not answer.get("IsTruncated"):
                break
            token = {"ContinuationToken": answer["NextContinuationToken"]}
        self.listings[prefix] = (time.monotonic(), found)
        return found

    def is_file(self) -> bool:
        return self.key in self.listed()

    exists = is_file

    def is_dir(self) -> bool:
        return any(each.startswith(self.key + "/") for each in self.listed())

    def glob(self, _: str) -> list:
        return []

    def names(self) -> List[str]:
        begin = self.key + "/"
        return sorted({each[len(begin):].partition("/")[0] for each in self.listed() if each.startswith(begin)})

    def is_alive(self) -> bool:
        """By the sign of life that a mirror writes, and the store's clock."""
        from email.utils import parsedate_to_datetime
        answer = (self / "alive").ask("get_object", Key=f"{self.key}/alive")
        said = re.match(rb"spotter alive 1\nevery ([0-9]+)", answer["Body"].read()) if answer else None
        if not said:
            return False
        now = parsedate_to_datetime(answer["ResponseMetadata"]["HTTPHeaders"]["date"])
        return (now - answer["LastModified"]).total_seconds() <= 3 * int(said.group(1)) + 2


class _StoreFile:
    """An object, read by ranges."""

    def __init__(self, path: _StorePath):
        there = path.listed().get(path.key)
        if there is None:
            raise FileNotFoundError(f"there is no {path}")
        self.path, self.name, self.at, (self.size, self.etag) = path, str(path), 0, there

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self):
        pass

    def seek(self, to: int):
        self.at = to

    def read(self, size: int = -1) -> bytes:
        end = self.size if size < 0 else min(self.size, self.at + size)
        if self.at >= end:
            return b""
        answer = self.path.ask("get_object", Key=self.path.key, Range=f"bytes={self.at}-{end - 1}")
        if answer is None:
            raise IoError(f"{self.name} was removed while it was read")
        found = answer["Body"].read()
        self.at += len(found)
        return found


def _identity_of(path, file=None):
    """Another one where another file has that name."""
    if isinstance(path, _StorePath):
        return file.etag if file else path.listed().get(path.key, (0, None))[1]
    return os.fstat(file.fileno()).st_ino if file else os.stat(path).st_ino


def _size_of(file) -> int:
    return file.size if isinstance(file, _StoreFile) else os.fstat(file.fileno()).st_size


def _open_file(path):
    """To read, at once: a pipe in its place would wait for whoever writes into it. What is no file is not there."""
    if isinstance(path, _StorePath):
        return _StoreFile(path)
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    if not S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise FileNotFoundError(f"\"{path}\" is no file")
    return open(number, "rb", buffering=0)


class _Segment:
    """One segment: where its row frames are. The file stays open, so it can be read after it was thinned or removed."""

    def __init__(self, path: Path, number: int):
        self.path, self.number, self.file, self.inode, self.size = path, number, None, None, 0
        self.groups: List[_Group] = []
        self.ids: Dict[int, "_Tensor"] = {}  # the writer's ids; where its own declarations were lost those of its attempt
        self.head = None  # where it is sound
        self.attempt = self.noticed = self.known_to = self.skip = self.surveyed_to = 0
        self.superseded = self.foreign = self.closed = self.has_marks = self.thinned = False

    def __del__(self):
        if self.file is not None:
            self.file.close()

    def extend(self):
        """Takes in what was written since the last call: groups as the sidecar says, those behind its last place as they are met."""
        if self.superseded:
            return
        try:
            if self.file is None or _identity_of(self.path) != self.inode:
                fresh = _open_file(self.path)
                thinned = _is_thinned(fresh)
                if self.file is not None and thinned and not self.thinned:
                    fresh.close()
                    self.superseded = True
                    return
                self.file, self.inode, self.thinned = fresh, _identity_of(self.path, fresh), thinned
        except FileNotFoundError:
            return
        self.size = _size_of(self.file)
        self.thinned = self.thinned or _is_thinned(self.file)
        if self.size < _HEAD_BYTES or self.foreign:
            return
        if self.known_to == 0:
            head, why = _read_head(self.bytes())
            if isinstance(why, UnknownVersion):
                self.foreign = True
                return
            self.head = head
            self.known_to = self.surveyed_to = 0 if why else _HEAD_BYTES
            if not why and not self.skip:
                self._take_sidecar()
        fresh = len(self.groups)
        walk = _Walk(self.bytes(), self.known_to)
        for frame in walk:
            if isinstance(frame, _Frame):
                self._take_frame(frame, fresh)
        self.known_to = walk.good_end

    def _take_frame(self, frame: _Frame, fresh: int):
        if self.skip:
            self.skip -= 1
            return
        last = self.groups[-1] if len(self.groups) > fresh else None
        if last is not None and frame.offset == last.end and last.end - last.offset < _GROUP:
            last.end, last.frames, last.flags = frame.end, last.frames + 1, last.flags | frame.flags
            last.closes += frame.closes
        else:
            self.groups.append(_Group(frame.offset, frame.end, 1, frame.first_ordinal, frame.closes, frame.flags))

    def _take_sidecar(self):
        """As far as its places are whole, follow one another and lie in the segment."""
        try:
            with _open_file(self.path.with_suffix(".spotx")) as file:
                side = file.read()
        except OSError:
            return
        places = np.frombuffer(side, _PLACE_FIELDS, len(side) // _PLACE_FIELDS.itemsize)
        ends = np.concatenate((np.array([_HEAD_BYTES], np.uint64), places["end"][:-1])) if len(places) else places["end"]
        good = (places["magic"] == _PLACE) & (places["frames"] > 0) & (places["previous_end"] == ends) & \
            (places["previous_end"] <= places["offset"]) & (places["offset"] <= places["end"]) & (places["end"] <= self.size) & \
            (((places["flags"] & _THINNED) != 0) == self.thinned)
        for i, place in enumerate(places.tolist()):
            bytes_of = side[i * 112:(i + 1) * 112]
            if not good[i] or not _has_checksum(bytes_of[:-8], bytes_of[-8:]):
                break
            _, frames, offset, end, _, first_ordinal, closes, _, _, flags, spans, _ = place
            self.groups.append(_Group(offset, end, frames, first_ordinal, closes, flags, spans))
            self.known_to = end

    def bytes(self, end: Optional[int] = None) -> _Bytes:
        return _Bytes(self.file, self.size if end is None else end)

    def whole(self) -> bool:
        return bool(self.groups) and bool(self.groups[-1].flags & _LAST)

    def next_ordinal(self) -> int:
        return self.groups[-1].first_ordinal + self.groups[-1].closes if self.groups else 0

    def frames_of(self, group: _Group) -> Iterator[_Frame]:
        for frame in _Walk(self.bytes(group.end), group.offset):
            if isinstance(frame, _Frame):
                yield frame

    def pieces_of(self, group: _Group, malformed) -> list:
        """The rows of steps in a group, read once: malformed(offset, bytes) for those that are not in order."""
        if group.pieces is None:
            pieces: list = []
            for frame in self.frames_of(group):
                plain = _Plain(frame.first_ordinal)
                for kind, at, body in _each_row(frame.body):
                    try:
                        if kind == 10:
                            packed = _Packed(body)
                            pieces += [plain, packed]
                            plain = _Plain(packed.next)
                            packed.hold()
                            self._want_known(packed.ids())
                        elif kind in (3, 4):
                            sample = (_read_observe if kind == 3 else _read_scalar)(body)
                            plain.open_held = plain.open_held or not sample.loose  # whether or not there is a name for it
                            self._want_known((sample.id,))
                            plain.add(sample, body)
                        elif kind == 5:
                            plain.close(_Fields(body))
                        self.has_marks = self.has_marks or kind == 11
                    except _Malformed:
                        malformed(frame.offset + 48 + at, len(body))
                pieces.append(plain)
            group.pieces = [each for each in pieces if isinstance(each, _Packed) or each.entries or each.closes]
        return group.pieces

    def _want_known(self, ids):
        if not self.ids.keys() >= set(ids):
            raise _Malformed("a row of a tensor whose declaration is lost")

    def survey(self) -> Iterator[Tuple[int, int]]:
        """Damage that has not been met yet; looks at every frame."""
        if self.file is None or self.foreign or self.superseded or self.surveyed_to == self.size or self.size < _HEAD_BYTES:
            return
        walk = _Walk(self.bytes(), self.surveyed_to)
        for each in walk:
            if isinstance(each, _Frame):
                self.closed = bool(each.flags & _LAST)
            else:
                yield each
        self.surveyed_to = walk.good_end

    def values(self, place: _Place, elements: Optional[Tuple[int, int]]) -> np.ndarray:
        """The stored elements at a place, flat, in the order of memory: all, or so many from one on."""
        width, count = _DTYPES[place.dtype][1], math.prod(place.shape)
        first, wanted = (0, count) if elements is None else elements
        found = None
        for offset, size, planes in place.parts:
            try:
                if offset + size > self.size or planes not in (1, _DTYPES[place.dtype][2]) or count * width > size // 13 * _BLOCK:
                    raise _Malformed("values at an impossible place")
                part = _unpack(self.bytes(offset + size)[offset:offset + size], planes, count * width, first * width, wanted * width)
            except _Malformed as why:
                told = "the values" if offset == place.parts[0][0] else f"the values that those at byte {place.parts[0][0]} build on,"
                raise Corrupt(f"{told} at byte {offset} of {self.path} are damaged ({why}): the statistics of this tensor and all "
                              "other values can be read; `spotter verify` lists what cannot") from why
            found = part if found is None else found ^ part
        return found.view(_DTYPES[place.dtype][3])


def _is_thinned(file) -> bool:
    file.seek(_HEAD_BYTES)
    head = file.read(48)
    return len(head) == 48 and head[:4] == struct.pack("<I", _ROWS) and bool(head[44] & _THINNED)


def _read_head(data: _Bytes):
    """(fields, None), or (None, why not)."""
    head = data[0:_HEAD_BYTES]
    if len(head) < _HEAD_BYTES or head[:4] != struct.pack("<I", _HEAD) or head[8:16] != b"spotter\0":
        return None, NotARun("no spotter segment")
    if head[4:8] != struct.pack("<I", 56) or not _has_checksum(head[:56], head[56:]):
        return None, Corrupt("the head of a segment is damaged")
    names = ("version", "draft", "number", "run_id", "first_ordinal", "worker", "attempt", "time")
    found = SimpleNamespace(**dict(zip(names, struct.unpack("<HHIQQIId", head[16:56]))))
    if (found.version, found.draft) != (1, 0):
        return None, UnknownVersion(f"format version {found.version}, draft {found.draft}: this file reads version 1; take the "
                                    "spotter_trial.py of the library that wrote it")
    return found, None


# ---- one worker's record ----------------------------------------------------------------------------------------------------------

class _Tensor:
    """What is known of a name: its last declaration, and where its rows are, taken in piece by piece."""

    def __init__(self, name: str):
        self.name, self.told = name, None
        self.chunks: list = []  # (segment, list of entries or _Column), in order of writing
        self.taken = 0  # how many of the record's pieces have been looked at
        self._columns: list = [[] for _ in range(6)]  # of `arrays`, those of the chunks that are in it
        self._arrays, self._joined = None, 0

    def take(self, pieces: list):
        of, locals_ = None, []
        for segment, piece in pieces[self.taken:]:
            if segment is not of:
                of, locals_ = segment, [local for local, tensor in segment.ids.items() if tensor is self]
            for local in locals_:
                rows = piece.column(local) if isinstance(piece, _Packed) else piece.entries.get(local)
                if rows:
                    self.chunks.append((segment, rows))
                    self._arrays = None
        self.taken = len(pieces)

    def arrays(self) -> SimpleNamespace:
        """All rows: mode, index, ordinal, kind, and chunk and row in it."""
        if self._arrays is None:
            for number, (_, rows) in enumerate(self.chunks[self._joined:], self._joined):
                if isinstance(rows, _Column):
                    kinds = rows.joined([np.full(len(at), _SCALAR if item.scalar else _OBSERVED, np.uint8) for item, at in rows.parts])
                    found = (rows.of.modes[rows.steps], rows.of.indices[rows.steps], rows.of.ordinals[rows.steps], kinds)
                else:
                    found = tuple(np.array(each, dtype) for each, dtype in
                                  zip(list(zip(*rows))[:4], (np.uint8, np.uint64, np.uint64, np.uint8)))
                size = len(found[0])
                for column, each in zip(self._columns, found + (np.full(size, number), np.arange(size))):
                    column.append(each)
            dtypes = (np.uint8, np.uint64, np.uint64, np.uint8, np.int64, np.int64)
            self._columns = [[np.concatenate(each) if each else np.empty(0, dtype)] for each, dtype in zip(self._columns, dtypes)]
            self._joined = len(self.chunks)
            names = ("mode", "index", "ordinal", "kind", "chunk", "row")
            self._arrays = SimpleNamespace(**{name: column[0] for name, column in zip(names, self._columns)})
        return self._arrays

    def sample(self, place: int) -> Tuple[_Segment, _Sample]:
        it = self.arrays()
        segment, rows = self.chunks[int(it.chunk[place])]
        row = int(it.row[place])
        return segment, rows.sample(row) if isinstance(rows, _Column) else _sample_of(rows[row])


class _Closed(NamedTuple):
    """All closed steps of a worker, in order; `held` where anything was kept."""
    mode: np.ndarray
    index: np.ndarray
    ordinal: np.ndarray
    time: np.ndarray
    held: np.ndarray


class _Record:
    """What one worker recorded."""

    def __init__(self, number: int, folder: Path):
        self.folder, self.worker_of_folder, self.trouble = folder, number, None
        self.segments: List[_Segment] = []
        self.tensors: Dict[str, _Tensor] = {}
        self._names: Dict[tuple, Dict[int, _Tensor]] = {}  # the ids of an attempt, which all its segments share
        self.collections: List[Collection] = []
        self.findings: List[Finding] = []
        self.coverages: List[Coverage] = []
        self.totals, self.earlier, self.bytes = Totals(), Totals(), 0
        self.attempt = self.worker = self.expected_workers = 0
        self.environment = ""
        self.begun_at = self.ended_at = self.looked_at = 0.0
        self.ended, self.why_ended, self.status = None, "", "running"
        self._damage: List[Damage] = []
        self._sure = 0  # segments that are whole, or noted as cut
        self._pieces: list = []  # (segment, rows of steps), in order of writing
        self._taken = (0, 0)  # segment and group up to which they were taken
        self._closed: Optional[_Closed] = None

    @property
    def number(self) -> int:
        return self.worker_of_folder or self.worker

    # -- taking in what is there --

    def refresh(self):
        live = self._is_locked()  # asked first: a run that ends now is still seen as ended next time
        try:
            self._take_in()
            self.trouble = None
        except OSError as why:
            self.trouble = IoError(f"{why.filename or self.folder}: {why.strerror or why}")
        except SpotterError as why:
            self.trouble = why
        if self.ended is not None:
            self.status = "finished" if self.ended == 1 else "failed"
        elif live is not None:
            self.status = "running" if live else "died"
        self.looked_at = time.time()
        self.bytes = sum(each.size for each in self.segments if not each.superseded or each.whole())
        if self.trouble:
            raise self.trouble

    def _is_locked(self) -> Optional[bool]:
        """Whether a live process writes; None where that cannot be told."""
        if isinstance(self.folder, _StorePath):
            return self.folder.is_alive()
        if fcntl is None:
            return None
        try:
            with _open_file(self.folder / "lock") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return False
        except FileNotFoundError:
            return None if (self.folder / "lock").exists() else False
        except BlockingIOError:
            return True
        except OSError:
            return None

    def _not_a_run(self, why: str) -> NotARun:
        runs = sorted(each.parent for each in self.folder.glob("*/000000.spot")) if self.folder.is_dir() else []
        there = f"; there are runs in it: {', '.join(map(str, runs[:5]))}" if runs else ""
        return NotARun(f"\"{self.folder}\" {why}: give the folder that a hook recorded into (hook.path() says which){there}")

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.spot"

    def _take_in(self):
        if not self.folder.is_dir():
            raise self._not_a_run("is no folder")
        why = self._first_segment()
        if why is not None and not self._later_segment_is_sound():
            raise why
        number = 0
        while True:
            path, following = self._path(number), self.segments[-1].number + 1 if self.segments else 0
            if not path.is_file():
                if not self._path(number + 1).is_file() and not path.is_file():
                    break
                if not path.is_file() and number == following:
                    self._note(Damage(str(path), 0, 0))
            if number == following:
                if number > 0:  # whole before the next one was begun, but it may have been read before that
                    self._extend(number - 1)
                self.segments.append(_Segment(path, number))
            self._extend(number)
            number += 1

    def _first_segment(self) -> Optional[SpotterError]:
        """Why this is no run, if it is none."""
        try:
            with _open_file(self._path(0)) as file:
                data = _Bytes(file, _size_of(file))
                if data.end < _HEAD_BYTES:
                    return None  # just beginning
                _, why = _read_head(data)
                if why is None or isinstance(why, Corrupt) or (isinstance(why, NotARun) and _row_frame(data, _HEAD_BYTES)):
                    return None
                return why if isinstance(why, UnknownVersion) else self._not_a_run("has a 000000.spot that is no spotter segment")
        except FileNotFoundError:
            return self._not_a_run("holds no 000000.spot")

    def has_first_segment(self) -> bool:
        return self._path(0).is_file()

    def _later_segment_is_sound(self) -> bool:
        number = 1
        while self._path(number).is_file():
            with _open_file(self._path(number)) as file:
                if _read_head(_Bytes(file, _size_of(file)))[1] is None:
                    return True
            number += 1
        return False

    def _extend(self, number: int):
        mine = [each for each in self.segments if each.number == number][-1]
        self._extend_one(mine)
        if mine.superseded and not mine.whole() and mine is self.segments[-1]:  # it was thinned while it was known in part
            rest = _Segment(mine.path, number)
            rest.attempt, rest.ids, rest.skip = mine.attempt, dict(mine.ids), sum(group.frames for group in mine.groups)
            self.segments.append(rest)
            self._extend_one(rest)

    def _extend_one(self, mine: _Segment):
        known = mine.foreign
        mine.extend()
        if mine.head is not None and not isinstance(mine.ids, ChainMap):
            mine.ids = ChainMap(mine.ids, self._names.setdefault((mine.head.run_id, mine.head.attempt), {}))
        if mine.foreign and not known:
            self._note(Damage(str(mine.path), 0, mine.size))
        wanted = _DECLARES | _FINDINGS | _RUN_END | _DROPS
        for group in mine.groups[mine.noticed:]:
            for frame in mine.frames_of(group) if group.flags & wanted else ():
                for kind, at, body in _each_row(frame.body) if frame.flags & wanted else ():
                    try:
                        self._take_notice(mine, kind, body)
                    except _Malformed:
                        self._damage.append(Damage(str(mine.path), frame.offset + 48 + at, len(body)))
        mine.noticed = len(mine.groups)

    def _note(self, place: Damage):
        if self._damage and self._damage[-1][:2] == place[:2]:  # met again, at the end of a run that still grows
            self._damage.pop()
        self._damage.append(place)

    def _take_notice(self, segment: _Segment, kind: int, body: bytes):
        f = _Fields(body)
        if kind == 1:
            f.take(8)
            attempt, worker, begun_at, _ = f.varint(0xFFFFFFFF), f.varint(0xFFFFFFFF), f.f64(), f.u8()
            f.text()
            collections = [Collection(f.text(), f.text()) for _ in range(f.varint())]
            expected = f.varint(0xFFFFFFFF) if f.left() else 0
            self.environment = f.text() if f.left() else ""
            if attempt > self.attempt:
                self.ended, self.coverages, self.earlier = None, [], self.totals
            self.attempt = segment.attempt = attempt
            self.worker, self.begun_at, self.collections, self.expected_workers = worker, begun_at, collections, expected
        elif kind == 2:
            local, name = f.varint(0xFFFFFFFE), f.text()
            roles = f.u8(), f.u8()
            told = SimpleNamespace(role=roles[0], partner_role=roles[1], partner=f.varint(0xFFFFFFFF) - 1, flags=f.varint(0xFFFFFFFF),
                                   activation=f.u8(), dtype=f.u8(_TEXT), shape=f.shape(), collections=f.fixed("Q", 8)[0],
                                   segment=segment)
            tensor = self.tensors.setdefault(name, _Tensor(name))
            tensor.told = told
            segment.ids[local] = tensor
            if isinstance(segment.ids, ChainMap):
                segment.ids.maps[-1][local] = tensor
        elif kind == 6:
            step, texts = f.step(), [f.text() for _ in range(6)]
            measured, threshold = f.fixed("2d", 16)
            how, severity, decision, decision_is_set, others = f.u8(4), f.u8(2), f.u8(2), f.u8(1), f.varint(0xFFFFFFFF)
            if not decision_is_set:
                decision = 2 if severity == 2 else 0
            rule, reason, tensor_name, measure, remedy, detail = texts
            self.findings.append(Finding(("info", "warning", "error")[severity], rule, reason, Step(MODES[step[0]], step[1]),
                                         tensor_name, measure, measured, ("", "<", "<=", ">", ">=")[how], threshold, remedy, detail,
                                         ("proceed", "skip_update", "stop")[decision], others, self.number))
        elif kind == 7:
            dropped, thinned, closes = f.varint(), f.varint(), f.varint()
            self.totals = self.totals._replace(dropped=self.earlier.dropped + dropped, thinned=self.earlier.thinned + thinned,
                                               closes_lost=self.earlier.closes_lost + closes)
        elif kind == 9:
            how, why = f.u8(2), f.text()
            refused, stored, dropped, thinned, _ = (f.varint() for _ in range(5))
            ended_at = f.f64()
            coverages = [Coverage(f.text(), f.varint(), f.varint(), f.varint(), f.varint(), f.text(), self.number, 1)
                         for _ in range(f.varint())]
            if how == 0:
                raise _Malformed("a run that ended in no way")
            self.ended, self.why_ended, self.ended_at, self.coverages = how, why, ended_at, coverages
            before = self.earlier
            self.totals = self.totals._replace(stored=before.stored + stored, dropped=before.dropped + dropped,
                                               thinned=before.thinned + thinned, refused=before.refused + refused)

    # -- the rows of steps --

    def complete(self) -> list:
        """Reads the rows of all steps, if they have not been: (segment, piece) in order of writing."""
        place, number = self._taken
        while place < len(self.segments):
            segment = self.segments[place]
            for group in segment.groups[number:]:
                self._pieces += [(segment, piece) for piece in segment.pieces_of(group, self._malformed(segment))]
            if place + 1 == len(self.segments):
                number = len(segment.groups)
                break
            place, number = place + 1, 0
        if self._taken != (place, number):
            self._taken, self._closed = (place, number), None
        return self._pieces

    def _malformed(self, segment: _Segment):
        return lambda offset, size: self._damage.append(Damage(str(segment.path), offset, size))

    def closed(self) -> _Closed:
        pieces = self.complete()
        if self._closed is None:
            columns: list = [[] for _ in range(5)]
            ordinal, held = 0, False
            for _, piece in pieces:
                held = held and piece.start == ordinal  # a step that was never closed keeps its ordinal to itself
                if isinstance(piece, _Packed):
                    kept = piece.held.copy()
                    kept[0] = kept[0] or held
                    found, held = (piece.modes, piece.indices, piece.ordinals, piece.times, kept), False
                elif piece.closes:
                    found = tuple(np.array(each, dtype) for each, dtype in
                                  zip(zip(*piece.closes), (np.uint8, np.uint64, np.uint64, np.float64, bool)))
                    found[4][0] |= held
                    held = piece.open_held
                else:
                    held, ordinal = held or piece.open_held, piece.start
                    continue
                ordinal = piece.next
                for column, each in zip(columns, found):
                    column.append(each)
            dtypes = (np.uint8, np.uint64, np.uint64, np.float64, bool)
            self._closed = _Closed(*(np.concatenate(each) if each else np.empty(0, dtype) for each, dtype in zip(columns, dtypes)))
        return self._closed

    def closing_of(self, ordinals: np.ndarray) -> np.ndarray:
        """Which closing has each of some ordinals; -1 where none has."""
        closed = self.closed()
        if not len(closed.ordinal):
            return np.full(len(ordinals), -1)
        at = np.minimum(np.searchsorted(closed.ordinal, ordinals), len(closed.ordinal) - 1)
        return np.where(closed.ordinal[at] == ordinals, at, -1)

    def series(self, name: str) -> Optional[_Tensor]:
        """A tensor with all its rows; None where the name is not known."""
        tensor = self.tensors.get(name)
        if tensor is not None:
            tensor.take(self.complete())
        return tensor

    def latest_at(self, tensor: _Tensor, step: Step):
        """The last observation of a tensor at a step: (segment, ordinal, what it says), from the few groups that may hold it."""
        mode = MODES.index(step.mode)
        for segment in reversed(self.segments):
            locals_ = [local for local, each in segment.ids.items() if each is tensor]
            for group in reversed(segment.groups) if locals_ else ():
                if not group.may_hold(mode, step.index):
                    continue
                for piece in reversed(segment.pieces_of(group, self._malformed(segment))):
                    found = [each for each in (piece.last_at(local, mode, step.index) for local in locals_) if each]
                    if found:
                        return (segment, *max(found, key=lambda each: each[0]))
        return None

    # -- what follows from all of it --

    def state(self, step: Step) -> str:
        closed, mode = self.closed(), MODES.index(step.mode)
        mine = closed.index[closed.mode == mode]
        if np.any(mine == step.index):
            return "present"
        return "absent" if self.past(step) or self.status != "running" else "pending"

    def is_closed(self, step: Step) -> bool:
        closed = self.closed()
        return bool(np.any((closed.mode == MODES.index(step.mode)) & (closed.index == step.index)))

    def past(self, step: Step) -> bool:
        closed = self.closed()
        return bool(np.any((closed.mode == MODES.index(step.mode)) & (closed.index > step.index)))

    def age(self) -> float:
        times = self.closed().time
        last = max(self.begun_at, float(times[-1]) if len(times) else 0.0, self.ended_at if self.ended is not None else 0.0)
        return max(0.0, self.looked_at - last)

    def damage(self) -> List[Damage]:
        self.complete()
        for segment in self.segments:
            for offset, size in segment.survey():
                self._note(Damage(str(segment.path), offset, size))
        self._note_cuts()
        return list(self._damage)

    def _note_cuts(self):
        """A segment that the same attempt went on from was closed before: one whose end is missing was cut."""
        while self._sure + 1 < len(self.segments):
            mine, following = self.segments[self._sure:self._sure + 2]
            if following.size < _HEAD_BYTES:
                return  # it is just beginning
            head, next_head = (_read_head(each.bytes())[0] if each.file else None for each in (mine, following))
            goes_on = next_head is not None and (next_head.first_ordinal > mine.next_ordinal() if head is None else
                                                 (head.run_id, head.attempt) == (next_head.run_id, next_head.attempt))
            if goes_on and not mine.closed and not mine.superseded and not self._is_recovered(next_head.attempt):
                self._note(Damage(str(mine.path), mine.surveyed_to, mine.size - mine.surveyed_to))
            self._sure += 1

    def _is_recovered(self, attempt: int) -> bool:
        """With its ring in shared memory, an attempt may go on from a segment without an end: a recovery wrote the next one."""
        for segment in self.segments[self._sure:]:
            head = _read_head(segment.bytes())[0] if segment.file else None
            if head is not None and head.attempt != attempt:
                return False
            if segment.has_marks:
                return True
        return False

    def info(self, name: str) -> Optional[Info]:
        tensor = self.tensors.get(name)
        if tensor is None:
            return None
        told = tensor.told
        partner = told.segment.ids.get(told.partner)
        members = tuple(each.name for i, each in enumerate(self.collections[:64]) if told.collections >> i & 1)
        flags = tuple(flag for i, flag in enumerate(_FLAGS) if told.flags >> i & 1)

        def role(number):
            return _ROLES[number] if number < len(_ROLES) else "other"

        return Info(name, role(told.role), _DTYPES[told.dtype][0], told.shape, partner.name if partner else None,
                    role(told.partner_role), flags, _ACTIVATIONS[min(told.activation, 4)], members)


# ---- one tensor over time -----------------------------------------------------------------------------------------------------------

def _value_of(segment: _Segment, it: _Sample, elements=None, bits=False):
    """The values of a row: an array, a NumPy scalar of what has no axes, a str of a text."""
    if it.raw is None and it.place is None:
        kept = [name for name in STATISTICS if _measured(_STATISTICS[name], it.summary)[1]]
        kept += ["quantiles"] * (it.quantiles is not None) + ["histogram"] * (it.histogram is not None)
        remedy = "give the run a larger ring, or a larger limit (options::run_bytes)" if it.thinned else "let a collection keep `payload`"
        raise NoPayload(f"only statistics were kept at this step ({', '.join(kept) or 'the shape'}): ask stat(), or {remedy}")
    if it.raw is not None:
        dtype, shape, order = it.dtype, (), "C"
        stored = np.frombuffer(it.raw, _DTYPES[dtype][3]).copy()
        if elements is not None and elements != (0, 1):
            raise BadConfig("so many elements are not there: it is one number")
    else:
        dtype, shape, order = it.place.dtype, it.place.shape, it.place.order
        if elements is not None:
            count = math.prod(shape)
            if min(elements) < 0 or sum(elements) > count:
                raise BadConfig(f"so many elements are not there: the tensor has {count} at this step")
        stored = segment.values(it.place, elements)
    if dtype == _TEXT:
        return stored.tobytes().decode("utf-8", "backslashreplace")
    values = stored if bits else _decoded(stored, dtype)
    return values if elements is not None else values.reshape(shape, order=order)[()]


def _flat_value_of(segment: _Segment, it: _Sample) -> np.ndarray:
    """The same in the order of memory."""
    values = np.atleast_1d(_value_of(segment, it))
    if values.dtype.kind == "U":
        raise NotInStep("undefined: a text has no statistics")
    return values.ravel(order="A" if it.place is None else it.place.order)


class _WorkerTrack:
    """One tensor as one worker recorded it."""

    def __init__(self, record: _Record, name: str):
        self.record, self.name, self.tensor = record, name, record.tensors.get(name)

    def rows(self) -> SimpleNamespace:
        tensor = self.record.series(self.name)
        return tensor.arrays() if tensor is not None else _Tensor(self.name).arrays()

    def find(self, step: Step, nth: Optional[int] = None, attempt: Optional[int] = None):
        """(segment, ordinal, what it says): of a step that was closed twice the latest; within it the last observation, or the n-th."""
        if self.tensor is None:
            raise NoSuchName(f"\"{self.name}\" was never observed: names() lists what was")
        if nth is None and attempt is None:
            found = self.record.latest_at(self.tensor, step)
            if found:
                return found
        it = self.rows()
        at = np.flatnonzero((it.mode == MODES.index(step.mode)) & (it.index == step.index) & (it.kind != _LOOSE))
        if len(at) and attempt is not None:
            at = at[[self.tensor.chunks[chunk][0].attempt == attempt for chunk in it.chunk[at]]]
            if not len(at):
                raise NotInStep(f"the step was not observed in attempt {attempt}: attempts() says how many there were")
        if len(at) and nth is not None:
            at = at[it.ordinal[at] == it.ordinal[at[-1]]][nth:nth + 1] if nth >= 0 else at[:0]
        if not len(at):
            raise self._missing(step)
        segment, sample = self.tensor.sample(int(at[-1]))
        return segment, int(it.ordinal[at[-1]]), sample

    def _missing(self, step: Step) -> SpotterError:
        if self.record.is_closed(step):
            return NotInStep("the step is there, but nothing of this tensor was kept at it: ask steps()")
        if self.record.status == "running" and not self.record.past(step):
            return NotYet("the run has not come to this step: refresh() and ask again")
        return NoSuchStep("the run has no such step: run.steps() lists what it has")

    def seen_at(self, step: Step) -> bool:
        try:
            self.find(step)
        except SpotterError:
            return False
        return True

    def summary(self, step: Step) -> dict:
        """What was stored; of a scalar what follows from it."""
        segment, _, it = self.find(step)
        return dict(it.summary) if it.summary is not None else _summary_of(_flat_value_of(segment, it))

    def stat(self, step: Step, name: str) -> float:
        which = _statistic(name)
        segment, _, it = self.find(step)
        found = it.summary
        if found is None or ((found["mask"] & which[0]) != which[0] and it.place is not None):
            found = _summary_of(_flat_value_of(segment, it))
        value, known = _measured(which, found)
        if not known and (found["mask"] & which[0]) == which[0]:
            raise NotInStep("undefined: the tensor has no finite element at this step")
        if not known:
            _value_of(segment, it)  # says which statistics there are
        return float(value)

    def distribution(self, step: Step, quantiles: bool, histogram: bool) -> Distribution:
        segment, _, it = self.find(step)
        stored = Distribution(None, None, None, None)
        if it.quantiles is not None and len(it.quantiles) == 8 * len(QUANTILE_LEVELS):
            stored = stored._replace(quantiles=np.frombuffer(it.quantiles, "<f8").copy())
        if it.histogram is not None and len(it.histogram[2]) == 64:
            stored = stored._replace(low=it.histogram[0], high=it.histogram[1], bins=np.array(it.histogram[2]))
        if (stored.quantiles is not None or not quantiles) and (stored.bins is not None or not histogram):
            return stored
        nothing_finite = it.place is None and it.summary is not None and it.summary["mask"] & _NONFINITE and \
            it.summary["count"] == sum(it.summary.get(name, 0) for name in ("nan", "pos_inf", "neg_inf"))
        found = None if nothing_finite else _distribution_of(_flat_value_of(segment, it), quantiles, histogram)
        if found is None:
            raise NotInStep("undefined: the tensor has no finite element at this step")
        return found

    def time(self, step: Step) -> float:
        _, ordinal, it = self.find(step)
        if it.time is not None:
            return it.time
        at = int(self.record.closing_of(np.array([ordinal], np.uint64))[0])
        if at < 0:
            raise NotYet("the step was not closed, so it has no time: refresh() and ask again")
        return float(self.record.closed().time[at])

    def shape(self, step: Step) -> Tuple[int, ...]:
        _, _, it = self.find(step)
        if it.raw is not None:
            return ()
        return it.shape if it.shape is not None else self.tensor.told.shape

    def observations(self, mode: Optional[int], loose=False) -> np.ndarray:
        """Places of the rows at steps of a mode, or of those between steps."""
        it = self.rows()
        wanted = (it.kind == _LOOSE) == loose
        return np.flatnonzero(wanted if mode is None else wanted & (it.mode == mode))

    def chunks(self, chosen: np.ndarray):
        """(segment, rows, where their results go in an array of all rows) of the chunks that hold any of the chosen rows."""
        it = self.rows()
        for number in np.unique(it.chunk[chosen]).tolist():
            first, last = np.searchsorted(it.chunk, (number, number + 1))
            yield (*self.tensor.chunks[number], slice(first, last))

    def history(self, name: str, mode: Optional[int]):
        """(modes, indices, values) of every observation; NaN where the statistic is unknown."""
        which, chosen, it = _statistic(name), self.observations(mode), self.rows()
        values = np.full(len(it.mode), np.nan)
        plain: list = []  # (place, summary)
        scalars: Dict[int, list] = {}  # by dtype: (place, bytes)
        for segment, rows, at in self.chunks(chosen):
            if isinstance(rows, _Column):
                values[at] = _measured(which, rows.fields())[0]
                continue
            for place, entry in enumerate(rows, at.start):
                sample = _sample_of(entry)
                if sample.raw is not None:
                    scalars.setdefault(sample.dtype, []).append((place, sample.raw))
                elif (sample.summary["mask"] & which[0]) == which[0] or sample.place is None:
                    plain.append((place, sample.summary))
                elif mode is None or entry[0] == mode:
                    try:
                        plain.append((place, _summary_of(_flat_value_of(segment, sample))))
                    except Corrupt:
                        continue
        for dtype, found in scalars.items():
            if dtype != _TEXT:
                places, raws = zip(*found)
                whole = _decoded(np.frombuffer(b"".join(raws), _DTYPES[dtype][3]), dtype)
                values[list(places)] = _measured(which, _summaries_of_scalars(whole))[0]
        if plain:
            places, summaries = zip(*plain)
            fields = {name: np.array([each.get(name, 0) for each in summaries]) for name in _FIELDS_OF_SUMMARY}
            values[list(places)] = _measured(which, fields)[0]
        return it.mode[chosen], it.index[chosen], values[chosen]

    def times(self, mode: Optional[int]) -> np.ndarray:
        """Seconds since 1970 of every observation, as `time` says; NaN while its step is open."""
        chosen, it = self.observations(mode), self.rows()
        closed, closing = self.record.closed(), self.record.closing_of(it.ordinal)
        times = np.full(len(it.mode), np.nan)
        times[closing >= 0] = closed.time[closing[closing >= 0]]
        for _, rows, at in self.chunks(chosen):
            if isinstance(rows, _Column):
                times[at] = rows.times()
                continue
            for place, entry in enumerate(rows, at.start):
                given = _sample_of(entry).time if entry[3] == _SCALAR else None
                times[place] = times[place] if given is None else given
        return times[chosen]

    def loose(self) -> List[Loose]:
        found, it = [], self.rows()
        for place in self.observations(None, loose=True).tolist():
            segment, sample = self.tensor.sample(place)
            value = _value_of(segment, sample)
            found.append(Loose(sample.time, value if isinstance(value, str) else value.item(), int(it.ordinal[place])))
        return found

    def closings(self, mode: Optional[int], with_values: bool):
        """(modes, indices, times) of the closed steps at which something was kept, in order."""
        it, closed = self.rows(), self.record.closed()
        chosen = self.observations(mode)
        if with_values:  # scalars are always whole
            chosen = chosen[(it.kind[chosen] == _VALUES) | (it.kind[chosen] == _SCALAR)]
        at = self.record.closing_of(it.ordinal[chosen])
        right = at >= 0
        right[right] = (closed.mode[at[right]] == it.mode[chosen[right]]) & (closed.index[at[right]] == it.index[chosen[right]])
        return closed.mode[at[right]], closed.index[at[right]], closed.time[at[right]]


def _steps_of(closings: list) -> List[Step]:
    """(modes, indices, times) of some workers as steps, each once, in the order of its first closing."""
    modes, indices, times = (np.concatenate(each) if each else np.empty(0) for each in (list(zip(*closings)) or ((), (), ())))
    if len(closings) > 1:
        order = np.argsort(times, kind="stable")
        modes, indices = modes[order], indices[order]
    first = [at[np.unique(indices[at], return_index=True)[1]] for at in (np.flatnonzero(modes == mode) for mode in range(3))]
    chosen = np.sort(np.concatenate(first))
    return [Step(MODES[mode], index) for mode, index in zip(modes[chosen].tolist(), indices[chosen].tolist())]


_WEIGHTS = {"no_such_worker": 1, "no_such_name": 2, "no_such_step": 3, "not_in_step": 4, "not_yet": 5, "no_payload": 6}


class Track:
    """One tensor over time, read through the trial that it came from.

    Of several workers each read is of one, the lowest that holds what is asked for; `of(2)` reads that one and no other. A step is
    100 (of train), "eval:3", ("eval", 3) or a Step."""

    def __init__(self, run: "Trial", name: str, worker: Optional[int] = None):
        self._run, self._name, self._worker = run, name, worker

    def __repr__(self):
        info = self.info
        return f"<{self.name}: {info.role}, {info.dtype} {list(info.shape)}, {len(self.steps())} steps>"

    @property
    def name(self) -> str:
        return self._name

    @property
    def info(self) -> Info:
        """Role, type, shape and so on as last declared, by the lowest worker that knows it."""
        found = next((each for each in (record.info(self._name) for record in self._records()) if each), None)
        if found is None:
            raise NoSuchName(f"\"{self._name}\" was never observed: names() lists what was")
        return found

    def of(self, worker: int) -> "Track":
        """What one worker recorded of it. NoSuchWorker."""
        self._run._record(worker)
        return Track(self._run, self._name, worker)

    def steps(self, mode: Optional[str] = None) -> List[Step]:
        """Closed steps at which something of it was kept, each once, in order of time."""
        return _steps_of([each.closings(_mode(mode), False) for each in self._parts()])

    def payload_steps(self, mode: Optional[str] = None) -> List[Step]:
        """Those at which the values were kept."""
        return _steps_of([each.closings(_mode(mode), True) for each in self._parts()])

    def last(self, count: int, step: AnyStep) -> List[Step]:
        """The last `count` steps up to and including `step`, of its mode."""
        until = _step(step)
        return [each for each in self.steps(until.mode) if each.index <= until.index][-count:] if count > 0 else []

    def value(self, step: AnyStep, *, nth: Optional[int] = None, attempt: Optional[int] = None,
              elements: Optional[Tuple[int, int]] = None, bits: bool = False):
        """The values at a step, as an array of the recorded shape, in your hands: a NumPy scalar of what has no axes, a str of a text.

        bf16 and f8 come as float32; `bits` gives what is stored. nth: of several observations in the step one, from 0 on (else the
        last). attempt: as that attempt of a resumed run saw it. elements (first, count): some of them, flat, in the order of memory;
        only the blocks that hold them are unpacked. NoSuchName, NoSuchStep, NotYet, NotInStep, NoPayload, Corrupt."""
        wanted = _step(step)

        def ask(each):
            segment, _, it = each.find(wanted, nth, attempt)
            return _value_of(segment, it, elements, bits)

        return self._lowest(ask)

    def values(self, mode: Optional[str] = None, *, skip_corrupt: bool = False) -> Iterator[Tuple[Step, np.ndarray]]:
        """(step, value) for each step at which the values were kept, one at a time. A damaged one raises Corrupt, unless it is skipped."""
        for step in self.payload_steps(mode):
            try:
                value = self.value(step)
            except Corrupt:
                if not skip_corrupt:
                    raise
                continue
            yield step, value

    def stat(self, step: AnyStep, name: str) -> float:
        """A statistic (STATISTICS lists them), as stored or else from the values: the same number, to the bit."""
        wanted = _step(step)
        return self._lowest(lambda each: each.stat(wanted, name), wanted)

    def summary(self, step: AnyStep) -> dict:
        """Everything that was stored about the values at a step, by the names of docs/format.md; `mask` says which terms."""
        wanted = _step(step)
        return self._lowest(lambda each: each.summary(wanted))

    def distribution(self, step: AnyStep, *, quantiles: bool = True, histogram: bool = True) -> Distribution:
        """Quantiles and histogram of the finite values, as stored or else from the values."""
        wanted = _step(step)
        return self._lowest(lambda each: each.distribution(wanted, quantiles, histogram), wanted)

    def quantile(self, step: AnyStep, level: float) -> float:
        """The smallest value that at least this share of the finite values, one of QUANTILE_LEVELS, does not exceed."""
        at = np.flatnonzero(np.abs(QUANTILE_LEVELS - level) < 1e-12)
        if not len(at):
            raise BadConfig("quantiles are kept at QUANTILE_LEVELS; for others read the values: value()")
        return float(self.distribution(step, histogram=False).quantiles[at[0]])

    def time(self, step: AnyStep) -> float:
        """Seconds since 1970: as given with a scalar, or else of the step's close. NotYet while the step is open."""
        wanted = _step(step)
        return self._lowest(lambda each: each.time(wanted))

    def shape(self, step: AnyStep) -> Tuple[int, ...]:
        wanted = _step(step)
        return self._lowest(lambda each: each.shape(wanted))

    def history(self, stat: str = "mean", mode: Optional[str] = None) -> Tuple[np.ndarray, np.ndarray]:
        """A statistic over time: step indices and values, a point for every observation, NaN where it is unknown. The mode may be left
        out where only one was seen. Of several workers that of the lowest that observed it."""
        number = self._only_mode(mode)
        _statistic(stat)
        for each in self._parts():
            _, indices, values = each.history(stat, number)
            if len(indices):
                return indices.astype(np.int64), values
        return np.empty(0, np.int64), np.empty(0)

    def times(self, mode: Optional[str] = None) -> np.ndarray:
        """Seconds since 1970 of each point of `history`; NaN while a step is open."""
        number = self._only_mode(mode)
        return next((found for found in (each.times(number) for each in self._parts()) if len(found)), np.empty(0))

    def loose(self) -> List[Loose]:
        """Scalars that were given between steps; of several workers those of the lowest that gave any."""
        return next((found for found in (each.loose() for each in self._parts()) if found), [])

    def _records(self) -> List[_Record]:
        return self._run._records if self._worker is None else [self._run._record(self._worker)]

    def _parts(self) -> List[_WorkerTrack]:
        return [_WorkerTrack(record, self._name) for record in self._records() if self._name in record.tensors]

    def _only_mode(self, mode: Optional[str]) -> Optional[int]:
        if mode is not None:
            return _mode(mode)
        seen = sorted({each for part in self._parts() for each in np.unique(part.rows().mode[part.observations(None)]).tolist()})
        if len(seen) > 1:
            raise BadConfig(f"\"{self._name}\" was seen in {' and '.join(MODES[each] for each in seen)}: say mode=\"{MODES[seen[0]]}\"")
        return None

    def _lowest(self, ask, step: Optional[Step] = None):
        """The answer of the lowest worker that has one, else the error that says most. With `step` a worker that observed it there has
        one, if only that what was asked for is undefined."""
        told: Optional[SpotterError] = None
        for record in self._records():
            each = _WorkerTrack(record, self._name)
            try:
                return ask(each)
            except SpotterError as why:
                weight = _WEIGHTS.get(why.code, 0)
                if weight == 0 or (step is not None and isinstance(why, NotInStep) and each.seen_at(step)):
                    raise
                if told is None or weight > _WEIGHTS[told.code]:
                    told = why
        if self._worker is None and self._run._awaiting and isinstance(told, (NoSuchStep, NotInStep)):
            raise NotYet("a worker of the run has not begun yet: refresh() and ask again")
        raise told


# ---- a run ------------------------------------------------------------------------------------------------------------------------

_LONGEST_PATTERN, _DEEPEST_BRACES = 16 * 1024, 32


class _Glob:
    """`*` any run of characters (also /), `?` one, `[a-z]` and `[!a-z]` one of a class, `{a,b}` alternatives, `\\x` the character x.

    As in C++, all places of the name that a pattern can have come to are followed at once, as the bits of a number: `re` would go back
    and try again, for ever where somebody means it.
    """

    def __init__(self, pattern: str):
        self._pattern, self._at = pattern, 0
        if len(pattern) > _LONGEST_PATTERN:
            raise BadConfig(f"a pattern of {len(pattern)} characters: {_LONGEST_PATTERN} are the most")
        self._parts = self._sequence(0)

    def __call__(self, name: str) -> bool:
        return self._reached(self._parts, name, 1) >> len(name) & 1 == 1

    def _wrong(self, why: str, at: int) -> BadConfig:
        return BadConfig(f"\"{self._pattern[:60]}\" is no pattern: at {at}: {why}")

    def _sequence(self, depth: int) -> list:
        """Up to the end, or to the comma or brace that ends an alternative."""
        parts, pattern = [], self._pattern
        while self._at < len(pattern):
            at, letter = self._at, pattern[self._at]
            if depth and letter in ",}":
                break
            self._at += 1
            if letter == "\\":
                if self._at == len(pattern):
                    raise self._wrong("it ends in a backslash", at)
                parts.append(pattern[self._at])
                self._at += 1
            elif letter == "[":
                begin = self._at + pattern.startswith("!", self._at)
                end = pattern.find("]", begin + pattern.startswith("]", begin))
                if end < 0:
                    raise self._wrong("the [ is not closed", at)
                parts.append(self._one_of(pattern[begin:end], inverted=begin > self._at))
                self._at = end + 1
            elif letter == "{":
                if depth == _DEEPEST_BRACES:
                    raise self._wrong(f"braces are nested more than {_DEEPEST_BRACES} deep", at)
                choices = [self._sequence(depth + 1)]
                while pattern.startswith(",", self._at):
                    self._at += 1
                    choices.append(self._sequence(depth + 1))
                if self._at == len(pattern):
                    raise self._wrong("the { is not closed", at)
                self._at += 1
                parts.append(choices)
            elif letter == "}":
                raise self._wrong("the } closes nothing", at)
            else:
                parts.append(None if letter == "*" else self._one_of("", inverted=True) if letter == "?" else letter)
        return parts

    @staticmethod
    def _one_of(members: str, inverted: bool):
        singles, ranges, at = set(), [], 0
        while at < len(members):
            if at + 2 < len(members) and members[at + 1] == "-":
                ranges.append((members[at], members[at + 2]))
                at += 3
            else:
                singles.add(members[at])
                at += 1
        return lambda letter: (letter in singles or any(first <= letter <= last for first, last in ranges)) != inverted

    def _reached(self, parts: list, name: str, places: int) -> int:
        """Where in the name the parts can end that begin at one of these places."""
        for part in parts:
            if not places:
                break
            if part is None:
                places = (2 << len(name)) - (places & -places)  # from the first of them on, every one
            elif isinstance(part, list):
                ends = 0
                for each in part:
                    ends |= self._reached(each, name, places)
                places = ends
            else:
                fits = part if callable(part) else part.__eq__
                places = sum(1 << at + 1 for at, letter in enumerate(name) if places >> at & 1 and fits(letter))
        return places


_BADNESS = {"finished": 0, "running": 1, "failed": 2, "died": 3}


class Trial:
    """A run as a snapshot. `run["fc1/w"]` is a Track.

    A run of several workers (threads, processes, ranks) is read as one: names and steps are the union, counts are sums, the status is
    the worst, and a value is the lowest worker's that holds it. Where a worker is named it speaks of that one."""

    def __init__(self, path, worker: Optional[int] = None):
        self._path, self._only = _StorePath.of(str(path)) if str(path).startswith("s3://") else Path(path), worker
        self._records: List[_Record] = []
        self._awaiting = False
        self.refresh()

    def __repr__(self):
        return f"<{self._path}: {self.status()}, {self.closed_steps()} steps, {len(self.names())} names>"

    def __getitem__(self, name: str) -> Track:
        """NoSuchName where nothing of that name was recorded (yet)."""
        if name not in self:
            raise NoSuchName(f"\"{name}\" was never observed: names() lists what was")
        return Track(self, name)

    def __contains__(self, name: str) -> bool:
        return any(name in each.tensors for each in self._records)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    tensor = __getitem__

    @property
    def path(self) -> str:
        return str(self._path)

    def workers(self) -> List[int]:
        return [each.number for each in self._records]

    def expected_workers(self) -> int:
        """How many workers the run was told to have; 0 where it was not told."""
        own = [each for each in self._records if not (each.number > 0 and each.folder == self._path)]
        return max((each.expected_workers for each in own), default=0) if self._only is None else 0

    def environment(self) -> Dict[str, str]:
        """What the program was built with and runs on: compiler, flags, target, processor, cores, memory, system, threads, as far as
        the record says. Of several workers that of the lowest."""
        lines = self._records[0].environment.splitlines() if self._records else []
        return {key: value for key, _, value in (line.partition(" ") for line in lines)}

    def names(self, pattern: Optional[str] = None, *, mode: Optional[str] = None, step: Optional[AnyStep] = None,
              collection: Optional[str] = None, worker: Optional[int] = None) -> List[str]:
        """Names of which anything was kept, sorted; those that fulfil every argument given. `pattern` is a glob."""
        matches = _Glob(pattern) if pattern is not None else None
        number, wanted = _mode(mode), _step(step) if step is not None else None
        found = set()
        for record in self._records:
            if worker is not None and record.number != worker:
                continue
            for name in self._kept_in(record):
                if matches is not None and not matches(name):
                    continue
                if collection is not None and collection not in record.info(name).collections:
                    continue
                if number is not None or wanted is not None:
                    it = record.series(name).arrays()
                    seen = it.kind != _LOOSE
                    seen = seen if number is None else seen & (it.mode == number)
                    seen = seen if wanted is None else seen & (it.mode == MODES.index(wanted.mode)) & (it.index == wanted.index)
                    if not seen.any():
                        continue
                found.add(name)
        return sorted(found)

    @staticmethod
    def _kept_in(record: _Record):
        seen: Dict[int, tuple] = {}
        for segment, piece in record.complete():
            of = seen.setdefault(id(segment), (segment, set()))[1]
            of.update(piece.ids())
        return {segment.ids[local].name for segment, locals_ in seen.values() for local in locals_ if local in segment.ids}

    def steps(self, mode: Optional[str] = None, *, worker: Optional[int] = None, closed_by: str = "any") -> List[Step]:
        """Closed steps at which anything was kept, each once, in order of their first closing: by any worker, or only those that
        each has closed (closed_by="all"; a worker that has not begun has closed none)."""
        if closed_by not in ("any", "all"):
            raise BadConfig(f"closed_by is \"any\" or \"all\", not {closed_by!r}")
        records = self._records if worker is None else [each for each in self._records if each.number == worker]
        number, closings = _mode(mode), []
        for record in records:
            closed = record.closed()
            chosen = closed.held if number is None else closed.held & (closed.mode == number)
            closings.append((closed.mode[chosen], closed.index[chosen], closed.time[chosen]))
        found = _steps_of(closings)
        if closed_by == "all" and worker is None:
            sets = [set(zip(each.closed().mode.tolist(), each.closed().index.tolist())) for each in self._records]
            common = set.intersection(*sets) if not self._missing() else set()
            found = [step for step in found if (MODES.index(step.mode), step.index) in common]
        return found

    def modes(self) -> List[str]:
        return [mode for mode in MODES if self.steps(mode)]

    def collections(self) -> List[Collection]:
        found: Dict[str, Collection] = {}
        for record in self._records:
            for each in record.collections:
                found.setdefault(each.name, each)
        return list(found.values())

    def ordinal(self, step: AnyStep) -> int:
        """The place of a step among all closed steps of a worker, whatever their mode: the lowest worker's that has it."""
        wanted = _step(step)
        for record in self._records:
            closed = record.closed()
            at = np.flatnonzero((closed.mode == MODES.index(wanted.mode)) & (closed.index == wanted.index))
            if len(at):
                return int(closed.ordinal[at[-1]])
        raise NoSuchStep("no such step was closed: steps() lists those that were")

    def step_at(self, ordinal: int) -> Step:
        for record in self._records:
            at = int(record.closing_of(np.array([ordinal], np.uint64))[0])
            if at >= 0:
                closed = record.closed()
                return Step(MODES[closed.mode[at]], int(closed.index[at]))
        raise NoSuchStep("no step with this ordinal was closed")

    def state(self, step: AnyStep, worker: Optional[int] = None) -> str:
        """present: closed. absent: passed, or the run is over. pending: it may still come. Of several workers pending while one is
        undecided, else present if any closed it."""
        wanted = _step(step)
        states = [each.state(wanted) for each in (self._records if worker is None else [self._record(worker)])]
        if "pending" in states or (worker is None and self._awaiting):
            return "pending"
        return "present" if "present" in states else "absent"

    def status(self, worker: Optional[int] = None) -> str:
        """running, finished, failed or died (the writer is gone without a word); of several workers the worst."""
        if worker is not None:
            return self._record(worker).status
        found = [each.status for each in self._records]
        if self._missing():
            found.append("running" if self._awaiting else "died")
        return max(found, key=_BADNESS.__getitem__)

    def over(self) -> bool:
        """Nobody writes any more."""
        return all(each.status != "running" for each in self._records)

    def age(self, worker: Optional[int] = None) -> float:
        """Seconds of silence at the last refresh: since the loop last began, closed a step or ended."""
        if worker is not None:
            return self._record(worker).age()
        running = [each.age() for each in self._records if each.status == "running"]
        return max(running) if running else min(each.age() for each in self._records)

    def why_ended(self) -> str:
        """Of a failed run the reason; of a finished one the first thing that went wrong, if any did."""
        if len(self._records) == 1 and not self._missing():
            return self._records[0].why_ended
        worst = self.status()
        for each in self._records:
            if each.status == worst and each.why_ended:
                return f"worker {each.number}: {each.why_ended}"
        missing = self._missing()
        return f"{missing} of {self.expected_workers()} workers never began" if worst == "died" and missing else ""

    def attempts(self) -> int:
        return max(each.attempt + 1 for each in self._records)

    def closed_steps(self) -> int:
        """Closings, of any mode, whether anything was kept or not; of all workers together."""
        return sum(len(each.closed().ordinal) for each in self._records)

    def findings(self) -> List[Finding]:
        """What the rules found while the run was recorded."""
        return [each for record in self._records for each in record.findings]

    def coverages(self) -> List[Coverage]:
        """How much each rule could judge; known once the run has ended. Equal ones of several workers are one."""
        found: List[Tuple[int, Coverage]] = []
        for record in self._records:
            for place, each in enumerate(record.coverages):
                at = next((i for i, (its, other) in enumerate(found)
                           if its == place and (other.rule, other.reason) == (each.rule, each.reason)), None)
                if at is None:
                    found.append((place, each))
                else:
                    other = found[at][1]
                    found[at] = (place, other._replace(matched=max(other.matched, each.matched), judged=other.judged + each.judged,
                                                       undecided=other.undecided + each.undecided, fired=other.fired + each.fired,
                                                       workers=other.workers + 1))
        return [each for _, each in found]

    def damage(self) -> List[Damage]:
        """Bytes that could not be read: values in them are Corrupt or absent, everything else is sound. Looks at every frame."""
        found = []
        for record in self._records:
            found += record.damage() + ([Damage(str(record.folder), 0, 0)] if record.trouble else [])
        return found

    def totals(self) -> Totals:
        return Totals(*(sum(each) for each in zip(*(record.totals._replace(bytes=record.bytes) for record in self._records))))

    def refresh(self) -> None:
        """Takes in what was written meanwhile, by workers that began meanwhile too. After an error everything read so far still holds;
        of several workers it is an error only if none can be read, else damage()."""
        first, sound = None, False
        for record in self._records + self._new_records():
            try:
                record.refresh()
                sound = True
            except SpotterError as why:
                first = first or why
                if record not in self._records and (self._only is not None or not record.has_first_segment()) and \
                        isinstance(why, NotARun):
                    continue  # about to begin
            if record not in self._records:
                self._records.append(record)
        self._records.sort(key=lambda each: each.number)
        self._awaiting = bool(self._missing()) and not self.over()
        if not sound and self._only is not None and isinstance(first, NotARun) and self._path.is_dir():
            raise NoSuchWorker(f"\"{self._path}\" holds no record of worker {self._only}: workers() of the whole run lists whose it holds")
        if not sound:
            raise first

    def _new_records(self) -> List[_Record]:
        known = {each.folder for each in self._records}
        if self._only is not None:
            folders = [(self._only, self._path / f"worker-{self._only}" if self._only else self._path)]
        else:
            folders = [(0, self._path)]
            try:
                below = self._path.names() if isinstance(self._path, _StorePath) else os.listdir(self._path)
            except OSError:
                below = []
            folders += sorted((int(each[7:]), self._path / each) for each in below
                              if re.fullmatch(r"worker-[1-9][0-9]{0,9}", each) and int(each[7:]) < 1 << 32)
        return [_Record(number, folder) for number, folder in folders if folder not in known]

    def wait(self, step: AnyStep, timeout: float) -> None:
        """Refreshes until the step is decided, for `timeout` seconds at most. NoSuchStep (the run has gone past it), NoMoreData (the run
        is over), NotYet (the time is up)."""
        wanted, end = _step(step), time.monotonic() + timeout
        while True:
            self.refresh()
            state = self.state(wanted)
            if state == "present":
                return
            if state == "absent":
                if any(each.past(wanted) for each in self._records):
                    raise NoSuchStep("the run has gone past this step without it: steps() lists what it has")
                raise NoMoreData("the run is over and has no such step: steps() lists what it has")
            if time.monotonic() >= end:
                raise NotYet("the step was not decided in time: wait again, or look at age()")
            time.sleep(min(0.005, max(0.0, end - time.monotonic())))

    def _missing(self) -> int:
        """Workers that the run was told to have and that recorded nothing so far."""
        expected = self.expected_workers()
        return expected - sum(each.number < expected for each in self._records)

    def _record(self, worker: int) -> _Record:
        for each in self._records:
            if each.number == worker:
                return each
        raise NoSuchWorker(f"the run has no worker {worker}: workers() lists those it has")


def open_trial(path, worker: Optional[int] = None) -> Trial:
    """Opens a run folder, with the records of all its workers or of one; never waits. NotARun, UnknownVersion, NoSuchWorker, IoError. A
    damaged or truncated record opens: what is whole can be read, damage() lists the rest."""
    return Trial(path, worker)


create_trial = open_trial
