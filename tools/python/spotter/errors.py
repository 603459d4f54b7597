# SPDX-License-Identifier: Apache-2.0
"""What can go wrong while a record is read, named as in the C++ library; `code` is the name that JSON has."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Iterable, Tuple


def did_you_mean(written: str, words: Iterable[str]) -> str:
    """`: did you mean "loss"?`, or nothing where no word is near, or begins so."""
    known = sorted(words)
    begun = [each for each in known if len(written) > 2 and each.startswith(written)]
    meant = begun or get_close_matches(written, known, 1, 0.66)
    return f": did you mean \"{meant[0]}\"?" if meant else ""


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
    kept: Tuple[str, ...] = ()  # what was, where it was something


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
