"""The fields that every sample has."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from reader.fields.columns import Column, ImageColumn, NumberColumn, ValuesColumn
from reader.fields.field import Field, Seen, Tools
from reader.fields.pixels import Planned
from reader.fields.staged import draw_staged
from reader.format.frames import Frame, Packed


class Image(Field):
    name = "image"
    is_gathered = follows_image = is_picture = True

    def read(self, planned: Planned, tools: Tools) -> Any:
        outs: Sequence[Any] = tools.outs or [
            np.empty((*view.size, view.image.depth), np.uint8) for view in planned.views
        ]
        if planned.stages:
            draw_staged(planned, outs, tools)
        else:
            tools.source.draw(planned, outs)
        return list(outs) if len(outs) > 1 else outs[0]

    def column(self, seen: Seen) -> Column:
        name, is_listed = seen.name(self), not seen.is_one_size
        return ImageColumn.of(name, seen.room, seen.dataset.channels, is_listed=is_listed)


class Geometry(Field):
    name = "geometry"
    follows_image = True

    def read(self, planned: Planned, tools: Tools) -> Any:
        packed = Packed.of_row(planned.shard.index.columns, planned.row)
        is_upright = planned.view.image.orientation == packed.stored.orientation
        matrices = [view.matrix(Frame(packed, is_upright)) for view in planned.views]
        return matrices if len(matrices) > 1 else matrices[0]

    def column(self, seen: Seen) -> Column:
        return ValuesColumn(seen.name(self), False, dtype="<f4", shape=(2, 3))


@dataclass(frozen=True)
class PlainField(Field):
    """A field whose value the plan of a sample has."""

    name: str
    value: Callable[[Planned], Any]
    kind: Callable[[str], Column] = Column
    is_read_only: bool = True
    is_stored: bool = False

    is_gathered = True

    def read(self, planned: Planned, tools: Tools) -> Any:
        return self.value(planned)

    def column(self, seen: Seen) -> Column:
        return self.kind(self.name)


_SIZE, _LABEL = partial(NumberColumn, shape=(2,)), partial(NumberColumn, absent=-1)

_FIELDS: Sequence[Field] = (
    Image(),
    PlainField("label", attrgetter("label"), _LABEL, is_read_only=False, is_stored=True),
    PlainField("index", attrgetter("number")),
    PlainField("valid", attrgetter("valid")),
    PlainField("key", attrgetter("key")),
    PlainField("name", attrgetter("name")),
    PlainField("size", attrgetter("view.image.upright_size"), _SIZE, is_stored=True),
    Geometry(),
    PlainField("source", attrgetter("shard.source")),
)
BUILT_IN = {field.name: field for field in _FIELDS}
