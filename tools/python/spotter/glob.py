# SPDX-License-Identifier: Apache-2.0
"""Patterns of names."""

from __future__ import annotations

from .errors import BadConfig

_LONGEST_PATTERN, _DEEPEST_BRACES = 16 * 1024, 32


class Glob:
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
        parts: list = []
        pattern = self._pattern
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
