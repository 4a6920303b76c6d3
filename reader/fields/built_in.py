"""The fields that every sample has."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from reader.fields.columns import (
    ArrayColumn,
    Column,
    ImageColumn,
    NumberColumn,
    SourceColumn,
    TextColumn,
)
from reader.fields.field import Field, Seen, Tools
from reader.fields.pixels import Planned


class Image(Field):
    name = "image"
    is_gathered = follows_image = is_picture = True

    def read(self, planned: Planned, tools: Tools) -> Any:
        outs: Sequence[Any] = tools.outs or [
            np.empty((*view.size, view.image.depth), np.uint8) for view in planned.views
        ]
        tools.source.draw(planned, outs)
        return list(outs) if len(outs) > 1 else outs[0]

    def column(self, seen: Seen) -> Column:
        name, channels = seen.name(self), seen.dataset.channels
        return ImageColumn(name, room=seen.room, channels=channels, is_listed=not seen.is_one_size)


class Label(Field):
    name = "label"
    is_gathered = True

    def read(self, planned: Planned, tools: Tools) -> int:
        return planned.label

    def column(self, seen: Seen) -> Column:
        return NumberColumn(self.name, absent=-1)


class Geometry(Field):
    name = "geometry"
    follows_image = True

    def read(self, planned: Planned, tools: Tools) -> Any:
        matrices = [view.matrix for view in planned.views]
        return matrices if len(matrices) > 1 else matrices[0]

    def column(self, seen: Seen) -> Column:
        return ArrayColumn(seen.name(self), dtype="<f4", shape=(2, 3))


class Index(Field):
    name = "index"
    is_read_only = is_gathered = True

    def read(self, planned: Planned, tools: Tools) -> Any:
        return planned.number

    def column(self, seen: Seen) -> Column:
        return Column(self.name)


class Valid(Index):
    name = "valid"

    def read(self, planned: Planned, tools: Tools) -> None:
        """Return None: the batch has it."""


class Size(Index):
    name = "size"

    def read(self, planned: Planned, tools: Tools) -> tuple[int, int]:
        return planned.view.image.upright_size

    def column(self, seen: Seen) -> Column:
        return NumberColumn(self.name, shape=(2,))


class Key(Index):
    name = "key"

    def read(self, planned: Planned, tools: Tools) -> str:
        return planned.shard.index.key(planned.row)

    def column(self, seen: Seen) -> Column:
        return TextColumn(self.name)


class Name(Key):
    name = "name"

    def read(self, planned: Planned, tools: Tools) -> str:
        return planned.shard.index.name(planned.row)


class Source(Index):
    name = "source"

    def read(self, planned: Planned, tools: Tools) -> int:
        return planned.shard.source

    def column(self, seen: Seen) -> Column:
        return SourceColumn(self.name)


BUILT_IN: dict[str, Field] = {
    field.name: field
    for field in (
        Image(),
        Label(),
        Index(),
        Valid(),
        Key(),
        Name(),
        Size(),
        Geometry(),
        Source(),
    )
}
