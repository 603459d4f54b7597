# SPDX-License-Identifier: Apache-2.0
"""Where the bytes of a record are: files, or objects in an object store, read by ranges."""

from __future__ import annotations

import os
import re
import time
from io import FileIO
from pathlib import Path
from stat import S_ISREG
from typing import List, Optional, Union, overload

from ..errors import IoError


class StorePath:
    """A place in an object store, as far as a reader needs of a path. Lists are a second old at most."""

    def __init__(self, client, bucket: str, key: str, listings: dict):
        self.client, self.bucket, self.key, self.listings = client, bucket, key, listings

    @staticmethod
    def of(text: str) -> "StorePath":
        try:
            import boto3  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError as why:
            raise IoError(f"{text} is read with boto3, which is not installed: pip install boto3") from why
        bucket, _, key = text[len("s3://"):].partition("/")
        return StorePath(boto3.client("s3"), bucket, key.strip("/"), {})

    def __str__(self) -> str:
        return f"s3://{self.bucket}/{self.key}"

    def __eq__(self, other) -> bool:
        return isinstance(other, StorePath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __truediv__(self, name: str) -> "StorePath":
        return StorePath(self.client, self.bucket, f"{self.key}/{name}", self.listings)

    @property
    def parent(self) -> "StorePath":
        return StorePath(self.client, self.bucket, self.key.rpartition("/")[0], self.listings)

    def with_suffix(self, suffix: str) -> "StorePath":
        return StorePath(self.client, self.bucket, self.key.rpartition(".")[0] + suffix, self.listings)

    def ask(self, call: str, **of):
        """The answer; None where there is nothing of that name."""
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-not-found, import-untyped, unused-ignore]
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
        for prefix, (when, known) in self.listings.items():
            if (self.key + "/").startswith(prefix) and time.monotonic() - when < 1:
                return known
        prefix = next((each for each in self.listings if (self.key + "/").startswith(each)), self.key + "/")
        found: dict = {}
        token: dict = {}
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


AnyPath = Union[Path, StorePath]


class StoreFile:
    """An object, read by ranges."""

    def __init__(self, path: StorePath):
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


AnyFile = Union[FileIO, StoreFile]


def identity_of(path: AnyPath, file: Optional[AnyFile] = None) -> Union[int, str, None]:
    """Another one where another file has that name."""
    if isinstance(file, StoreFile):
        return file.etag
    if isinstance(path, StorePath):
        return path.listed().get(path.key, (0, None))[1]
    return os.fstat(file.fileno()).st_ino if file is not None else os.stat(path).st_ino


def size_of(file: AnyFile) -> int:
    return file.size if isinstance(file, StoreFile) else os.fstat(file.fileno()).st_size


@overload
def open_file(path: Path) -> FileIO: ...


@overload
def open_file(path: StorePath) -> StoreFile: ...


def open_file(path: AnyPath) -> AnyFile:
    """To read, at once: a pipe in its place would wait for whoever writes into it. What is no file is not there."""
    if isinstance(path, StorePath):
        return StoreFile(path)
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    if not S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise FileNotFoundError(f"\"{path}\" is no file")
    return open(number, "rb", buffering=0)
