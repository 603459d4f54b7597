# SPDX-License-Identifier: Apache-2.0
"""Where the rows of one step are: asked for once a tensor, of all tensors one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Tuple

from .packed import Packed

if TYPE_CHECKING:
    from .frames import Group
    from .record import Record, Tensor
    from .segment import Segment


class AtStep:
    """The groups that may hold rows of a step, the last first."""

    def __init__(self, record: "Record", mode: int, index: int):
        self.step = mode, index
        self._record, self._asked = record, 0
        self._groups: List[Tuple["Segment", "Group"]] = [(segment, group) for segment in reversed(record.segments)
                                                         for group in reversed(segment.groups) if group.may_hold(mode, index)]
        self._by_id: Optional[Dict[Tuple["Segment", int], list]] = None  # the pieces that have rows of an id, once all have been read

    def latest(self, tensor: "Tensor") -> Optional[tuple]:
        """The last observation of a tensor: (segment, ordinal, what it says), from as few groups as can be."""
        self._asked += 1
        if self._by_id is None and self._asked & (self._asked - 1) == 0:  # now and then
            self._by_id = self._index()
        for segment, local_ids, pieces in self._pieces_of(tensor):
            for piece in pieces:
                found = None
                for local in local_ids:
                    each = piece.last_at(local, *self.step) if piece.may_have(local) else None
                    if each and (found is None or each[0] > found[0]):
                        found = each
                if found:
                    return (segment, *found)
        return None

    def _pieces_of(self, tensor: "Tensor") -> Iterator[tuple]:
        of: Optional["Segment"] = None
        local_ids: List[int] = []
        for segment, group in self._groups:
            if segment is not of:
                of, local_ids = segment, tensor.ids_in(segment)
                if self._by_id is not None and len(local_ids) == 1:
                    yield segment, local_ids, self._by_id.get((segment, local_ids[0]), ())
            if local_ids and (self._by_id is None or len(local_ids) > 1):
                pieces = group.pieces
                yield segment, local_ids, reversed(self._record.pieces_of(segment, group) if pieces is None else pieces)

    def _index(self) -> Optional[Dict[Tuple["Segment", int], list]]:
        if any(group.pieces is None or any(isinstance(each, Packed) for each in group.pieces) for _, group in self._groups):
            return None
        found: Dict[Tuple["Segment", int], list] = {}
        for segment, group in self._groups:
            for piece in reversed(group.pieces):
                for local in piece.ids():
                    found.setdefault((segment, local), []).append(piece)
        return found
