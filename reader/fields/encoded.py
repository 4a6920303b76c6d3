"""Images that the GPU decodes: workers only extract the crop's part of each JPEG.

With ``decode="auto"``, they draw the first ones of each batch.
"""

import math
import time
from dataclasses import dataclass, field
from typing import Any, ClassVar

from reader.batch.layout import ArraySpec, BatchArrays, Bytes
from reader.errors import ArgumentError
from reader.fields.built_in import BUILT_IN, Image
from reader.fields.columns import Column, ImageColumn, StoredBatch
from reader.fields.field import Seen, Tools
from reader.fields.pixels import Planned
from reader.gpu_decode.parcels import PARCEL_NUMBERS, Packed, finished, pack, room_for
from reader.transforms.pipeline import members, pixel_transforms

_CONTENT, _PARCEL = "image:content", "image:parcel"


@dataclass(frozen=True)
class EncodedImage(Image):
    """The image as the JPEG of its crop, or drawn where the batch has memory for its pixels."""

    decode: str  # "gpu" or "auto"

    is_gathered = False

    def read(self, planned: Planned, tools: Tools) -> Packed | None:
        if not tools.outs or tools.outs[0] is None:
            return pack(planned.view, tools.decoder)
        began = time.perf_counter_ns()
        super().read(planned, tools)
        tools.drawing += time.perf_counter_ns() - began
        tools.drawn += 1
        return None

    def check(self, seen: Seen) -> None:
        """Refuse options that need pixels."""
        recipe, dataset, decode = seen.recipe, seen.dataset, self.decode
        others = {
            "several views": bool(recipe.further),
            "map_sample": recipe.map_sample is not None,
            "collate_fn": not seen.numbers,
            "masks, bands, boxes, points, polygons or further pictures": any(
                field.follows_image and field.name not in BUILT_IN for field in recipe.fields
            ),
            "Dataset(channels=1)": dataset.channels == 1,
            "transforms that change pixels, such as ColorJitter": bool(
                pixel_transforms(recipe.transforms)
            ),
            "antialias= or interpolation=": any(
                getattr(transform, "filter", None) for transform in members(recipe.transforms)
            ),
        }
        if asked := [name for name, is_asked in others.items() if is_asked]:
            raise ArgumentError(
                f'decode="{decode}" does not support {asked[0]}, because images stay JPEGs until '
                'they are on the GPU. Leave it out, or use decode="cpu".'
            )
        if not seen.is_one_size:
            raise ArgumentError(
                f'decode="{decode}" needs transforms that give all images one size, such as '
                "transforms=[reader.RandomResizedCrop(224)]."
            )

    def column(self, seen: Seen) -> Column:
        shape, room = (*seen.room, 3), room_for(seen.dataset, seen.room)
        if self.decode == "auto":
            room = max(room, math.prod(shape))
        return EncodedColumn(self.name, shape=shape, row_bytes=room)


@dataclass
class EncodedColumn(ImageColumn):
    """The bytes of the images, and a `Parcel` for each row.

    The pixels of a batch's first rows, those that workers draw, come first; the rows of a chunk
    share the memory for their JPEGs.
    """

    is_loose: bool = True
    is_image: ClassVar[bool] = True
    row_bytes: int = 0
    _drawn: int = field(default=0, compare=False)  # rows of the batch that workers draw
    _next: int = field(default=0, compare=False)  # offset of the chunk's next JPEG
    _end: int = field(default=0, compare=False)

    @property
    def _pixels(self) -> int:
        return math.prod(self.shape)

    def size(self) -> tuple[ArraySpec, ...]:
        content = ArraySpec(_CONTENT, "|u1", (self.row_bytes,))
        return content, ArraySpec(_PARCEL, "<i8", (PARCEL_NUMBERS,))

    def begin(self, arrays: BatchArrays, rows: slice, drawn: int) -> None:
        self._drawn = drawn
        self._next, self._end = (
            drawn * self._pixels + max(row - drawn, 0) * self.row_bytes
            for row in (rows.start, rows.stop)
        )

    def out(self, arrays: BatchArrays, row: int, size: tuple[int, int]) -> Bytes | None:
        if row >= self._drawn:
            return None
        memory: Bytes = arrays[_CONTENT].reshape(-1)[row * self._pixels :][: self._pixels]
        return memory.reshape(self.shape)

    def store(self, arrays: BatchArrays, row: int, value: Packed | None) -> bytes | None:
        """Append an image, unless it is drawn; return its bytes if there is no room left."""
        if value is None:
            arrays[_PARCEL][row] = finished(self.room, row * self._pixels)
            return None
        size = sum(map(len, value.parts))
        fits = self._next + size <= self._end
        offset = self._next if fits else -1
        arrays[_PARCEL][row] = value.parcel._replace(offset=offset)
        if not fits:
            return b"".join(map(bytes, value.parts))
        content: Bytes = arrays[_CONTENT].reshape(-1)
        for part in value.parts:
            content[self._next : self._next + len(part)] = part
            self._next += len(part)
        return None

    def mask(self, arrays: BatchArrays, row: int) -> None:
        """Store black pixels, or an empty parcel: the bytes of a row may be other rows'."""
        arrays[_PARCEL][row] = 0
        if (pixels := self.out(arrays, row, self.room)) is not None:
            pixels[:] = 0
            self.store(arrays, row, None)

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.gpu_decode.images import EncodedImages

        arrays, keys = batch.arrays, batch.dataset.keys
        content = arrays[_CONTENT].reshape(-1)
        return EncodedImages(
            self.room, arrays[_PARCEL], content, batch.loose[self.name], keys, arrays["index"]
        )
