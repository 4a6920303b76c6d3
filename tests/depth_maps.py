"""A kind of field that reader does not have: depth maps, arrays over the image, in float16."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reader.batch.layout import ArraySpec, BatchArrays
from reader.decode.decoder import draw_mask
from reader.decode.formats import part
from reader.fields.column import Column, StoredBatch
from reader.fields.field import ResolvedField, Tools
from reader.fields.kinds import KINDS, Kind, Seen
from reader.fields.pixels import Planned
from reader.fields.values import InArray
from reader.format.members import DECODERS

FAR = 100.0  # what lies outside of the image


@dataclass(frozen=True)
class Depth:
    """The depth of each pixel of the image, as it is stored."""

    member: str


@dataclass(frozen=True)
class DepthField(ResolvedField):
    follows_image: ClassVar[bool] = True

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        depth = DECODERS["npy"](data).astype(np.float16)
        return [draw_mask(view, part(depth, view.box), FAR) for view in planned.views]


@dataclass
class DepthColumn(Column):
    room: tuple[int, int] = (0, 0)

    def size(self) -> tuple[ArraySpec, ...]:
        return (ArraySpec(self.name, "<f2", self.room),)

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        arrays[self.name][row] = value
        return InArray

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.fields.tensors import from_numpy

        return from_numpy(batch.arrays[self.name]).unsqueeze(1)


def resolved(field: Depth, ext: str, is_optional: bool, _: object) -> DepthField:
    return DepthField(field, ext, ext, is_optional)


def column(seen: Seen) -> DepthColumn:
    return DepthColumn(seen.name, room=seen.room)


KIND = {Depth: Kind(resolved, column)}
assert not KIND.keys() & KINDS.keys()
