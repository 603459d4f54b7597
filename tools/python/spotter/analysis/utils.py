# SPDX-License-Identifier: Apache-2.0
"""Whether trials look for news, and arguments of rules that come as text."""

from __future__ import annotations

from contextlib import contextmanager


@contextmanager
def _looking(trials, whether: bool):
    each_trial = trials if isinstance(trials, (list, tuple)) else [trials]
    before = [each.dynamic_refresh for each in each_trial]
    for each in each_trial:
        each.dynamic_refresh = whether
    try:
        yield trials
    finally:
        for each, was in zip(each_trial, before):
            each.dynamic_refresh = was


def no_refresh(trials):
    """Within it a trial, or each of a list, stays as it is; then again as it was."""
    return _looking(trials, False)


def refresh(trials):
    """Within it a trial, or each of a list, looks for news at every question."""
    return _looking(trials, True)


def parse_list_from_str(arg, delimiter=","):
    """A list of texts as it is; of one text its parts; of None, or nothing in it, none."""
    if isinstance(arg, str):
        return arg.split(delimiter) if arg else []
    return [] if arg is None else arg


def parse_bool(arg, default):
    """True and False as they are or as text; `default` of None. ValueError."""
    if arg is None:
        return default
    if arg in (True, False):
        return arg
    if arg in ("True", "true", "False", "false"):
        return arg in ("True", "true")
    raise ValueError(f"{arg!r} is neither true nor false")
