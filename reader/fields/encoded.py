"""Images that the GPU decodes: workers only extract the crop's part of each JPEG.

With ``decode="auto"``, they draw the first ones of each batch.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from reader.batch.layout import ArraySpec, BatchArrays, Bytes
from reader.dataset.dataset import Dataset
from reader.decode.decoder import Decoder
from reader.errors import ArgumentError
from reader.fields.column import Column, StoredBatch
from reader.fields.pixels import PixelSource, Planned
from reader.fields.sample import Recipe
from reader.gpu_decode.parcels import PARCEL_NUMBERS, Packed, finished, pack, room_for

_CONTENT, _PARCEL = "image:content", "image:parcel"


class _Parcels(PixelSource):
    def image(self, planned: Planned, outs: Sequence[Any] | None) -> Any:
        if outs is None:
            return pack(planned.view, self._decoder)
        began = time.perf_counter_ns()
        super().image(planned, outs)
        self.drawing += time.perf_counter_ns() - began
        self.drawn += 1
        return None


@dataclass
class EncodedColumn(Column):
    """The bytes of the images, and a `Parcel` for each row.

    The pixels of a batch's first rows, those that workers draw, come first; the rows of a chunk
    share the memory for their JPEGs.
    """

    decoded: tuple[int, int] = (0, 0)  # (height, width) of the decoded images
    room: int = 0  # bytes for a row
    is_drawn_in_part: bool = False  # ``decode="auto"``
    is_loose: bool = True
    _drawn: int = field(default=0, compare=False)  # rows of the batch that workers draw
    _next: int = field(default=0, compare=False)  # offset of the chunk's next JPEG
    _end: int = field(default=0, compare=False)

    is_image: ClassVar[bool] = True

    @property
    def work(self) -> str:  # type: ignore[override]
        return "decode" if self.is_drawn_in_part else "splice"

    @property
    def _pixels(self) -> int:
        return self.decoded[0] * self.decoded[1] * 3

    @classmethod
    def of(
        cls,
        dataset: Dataset,
        recipe: Recipe,
        size: tuple[int, int],
        decode: str,
        *,
        is_fit: bool,
        **other: bool,
    ) -> "EncodedColumn":
        """Return the column for a recipe; refuse options that need pixels, also each of `other`."""
        if "image" not in recipe.names:
            raise ArgumentError(
                f'decode="{decode}" needs the field "image". Add it to fields=, or leave decode= '
                "out."
            )
        others = {
            "several views": bool(recipe.further),
            "map_sample": recipe.map_sample is not None,
            **other,
            "masks, bands, boxes, points, polygons or further pictures": any(
                member.follows_image for member in recipe.members
            ),
            "Dataset(channels=1)": dataset.channels == 1,
            "antialias= or interpolation=": any(
                getattr(transform, "filter", None) for transform in recipe.transforms
            ),
        }
        if asked := [name for name, is_asked in others.items() if is_asked]:
            raise ArgumentError(
                f'decode="{decode}" does not support {asked[0]}, because images stay JPEGs until '
                'they are on the GPU. Leave it out, or use decode="cpu".'
            )
        if not is_fit:
            raise ArgumentError(
                f'decode="{decode}" needs transforms that give all images one size, such as '
                "transforms=[reader.RandomResizedCrop(224)]."
            )
        room, is_auto = room_for(dataset, size), decode == "auto"
        if is_auto:
            room = max(room, size[0] * size[1] * 3)
        return cls("image", decoded=size, room=room, is_drawn_in_part=is_auto)

    def size(self) -> tuple[ArraySpec, ...]:
        content = ArraySpec(_CONTENT, "|u1", (self.room,))
        return content, ArraySpec(_PARCEL, "<i8", (PARCEL_NUMBERS,))

    def pixel_source(self, decoder: Decoder, decoded: object) -> PixelSource:
        return _Parcels(decoder)

    def begin(self, arrays: BatchArrays, rows: slice, drawn: int) -> None:
        self._drawn = drawn
        self._next, self._end = (
            drawn * self._pixels + max(row - drawn, 0) * self.room
            for row in (rows.start, rows.stop)
        )

    def out(self, arrays: BatchArrays, row: int, height: int, width: int) -> Bytes | None:
        if row >= self._drawn:
            return None
        memory: Bytes = arrays[_CONTENT].reshape(-1)[row * self._pixels :][: self._pixels]
        return memory.reshape(height, width, 3)

    def store(self, arrays: BatchArrays, row: int, value: Packed | None) -> bytes | None:
        """Append an image, unless it is drawn; return its bytes if there is no room left."""
        if value is None:
            arrays[_PARCEL][row] = finished(self.decoded, row * self._pixels)
            return None
        size = sum(len(part) for part in value.parts)
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
        if (pixels := self.out(arrays, row, *self.decoded)) is not None:
            pixels[:] = 0
            self.store(arrays, row, None)

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.gpu_decode.images import EncodedImages

        arrays, keys = batch.arrays, batch.texts["key"]
        content = arrays[_CONTENT].reshape(-1)
        return EncodedImages(
            self.decoded, arrays[_PARCEL], content, batch.loose[self.name], keys, arrays["index"]
        )
