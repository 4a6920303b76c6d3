"""Read the kinds of members: decoded by a function, coordinates, or pictures over the image."""

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.decode.colours import ColourTable
from reader.decode.decoder import draw_mask
from reader.decode.formats import Pixels, has_colours, part, read_colours, read_values
from reader.decode.plan import View
from reader.errors import SampleError
from reader.fields.field import PHOTOGRAPHS, Decode, Mask, ResolvedField, Tools
from reader.fields.overlays import Overlay
from reader.fields.pixels import Planned
from reader.format.bands import bands_of
from reader.format.mask_colors import MaskColors
from reader.format.members import Missing, at_path, picture_format

# Names of pictures that hold values, in any colours.
_VALUES = re.compile("mask|seg|label|depth|panoptic|instance|ids?$|gt$", re.IGNORECASE)


@dataclass(frozen=True)
class DecodedField(ResolvedField):
    decode: Decode = bytes

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        return [self.decode(data)]


@dataclass(frozen=True)
class JsonField(ResolvedField):
    """A value of a JSON member, by the path to it."""

    path: str = ""

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        try:
            return [at_path(json.loads(data), self.path)]
        except Missing as error:
            if self.is_optional:
                return [None]
            advice = f'to get None for it, write "{self.name}?" in fields='
            reason = f"its .{self.ext}: {error}; {advice}"
            raise planned.shard.error(planned.row, reason, self.ext) from None

    def common(self, dataset: Dataset, numbers: Sequence[int]) -> NDArray[Any] | None:
        """Return the value of one of these samples, if all are numbers of one shape."""
        places = [dataset.locate(number) for number in numbers]
        for shard, row in places:
            shard.read_ahead(row, 0, 1)  # a store brings all of them at a time
        values = []
        for shard, row in places:
            with suppress(SampleError, ValueError):  # its batch raises what is wrong with it
                values.append(at_path(json.loads(shard.read(row, self.ext)), self.path))
        try:
            found = np.asarray(values)
        except ValueError:  # lists of different lengths
            return None
        return found[0] if found.size and found.dtype.kind in "bif" else None


@dataclass(frozen=True)
class OverlayField(DecodedField):
    are_classes: bool = False  # their labels are those of dataset.json's classes

    follows_image: ClassVar[bool] = True

    @property
    def absent(self) -> Any:
        assert isinstance(self.field, Overlay)
        return self.field.none()

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        content = self.decode(data)
        orientation = int(planned.shard.index.columns["orientation"][planned.row])
        placed = [self.field.place(content, view, orientation) for view in planned.views]
        tools.dropped_boxes += sum(dropped for _, dropped in placed)
        if self.are_classes and planned.shard.labels is not None:  # of a Mix
            for found, _ in placed:
                found["labels"] = planned.shard.labels[found["labels"]]
        return [found for found, _ in placed]


@dataclass(frozen=True)
class PictureField(ResolvedField):
    colors: MaskColors | None = None  # of a mask that is coded by colour

    follows_image: ClassVar[bool] = True

    @property
    def is_picture(self) -> bool:  # type: ignore[override]
        is_mask = isinstance(self.field, Mask) or self.colors is not None
        name = self.ext.rpartition(".")[0]
        return not is_mask and (picture_format(self.ext) in PHOTOGRAPHS or not _VALUES.search(name))

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        kind = picture_format(self.ext) or ""
        bands = bands_of(planned.shard.index.columns, planned.row, self.ext)
        views = [view.of_other(data, kind, bands) for view in planned.views]
        if self.is_picture and (kind in PHOTOGRAPHS or has_colours(views[0])):
            outs = [np.empty((*view.size, view.image.depth), np.uint8) for view in views]
            tools.decoder.draw_all(views, outs)
            return outs
        fill = self.field.fill if isinstance(self.field, Mask) else 0
        values = read_values(views) if self.colors is None else self._classes(views, planned)
        return [draw_mask(*each, fill) for each in zip(views, values, strict=True)]

    @cached_property
    def _table(self) -> ColourTable:
        assert self.colors is not None
        return ColourTable(self.colors.colors)

    def _classes(self, views: Sequence[View], planned: Planned) -> list[Pixels]:
        ignore = self.field.ignore if isinstance(self.field, Mask) else None
        try:
            return [self._table.numbers(pixels, ignore) for pixels in read_colours(views)]
        except KeyError as error:
            reason = (
                f"its .{self.ext} has the colour {error.args[0]}, which is none of the "
                f"{len(self._table.colors)} colours of classes; add the colour to colors=, or give "
                f'reader.Mask("{self.ext}", ignore=255) to make such pixels 255'
            )
            raise planned.shard.error(planned.row, reason, self.ext) from None


@dataclass(frozen=True)
class BandsField(DecodedField):
    follows_image: ClassVar[bool] = True

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        image, array = planned.view.image, np.asarray(self.decode(data))
        size, filter = (image.height, image.width), self.field.interpolation
        if array.shape[:2] != size or array.ndim > 3 or array.dtype.kind not in "biuf":
            raise ValueError(
                f"it has {array.dtype} {array.shape}; numbers of shape {size} or "
                f"({size[0]}, {size[1]}, bands) are required, as its image is stored. If bands "
                "come first, pack np.moveaxis(array, 0, -1)"
            )
        is_exact = array.dtype.kind == "f" or np.can_cast(array.dtype, np.float32)
        if filter != "nearest" and not is_exact:
            raise ValueError(f'{array.dtype} has no {filter} resize; use interpolation="nearest"')
        array = array.reshape(*size, -1)
        drawn = (draw_mask(v, part(array, v.box), self.field.fill, filter) for v in planned.views)
        return [np.moveaxis(bands, -1, 0) for bands in drawn]
