"""Images that the GPU decodes: workers only extract the crop's part of each JPEG."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from reader.batch.layout import ArraySpec, BatchArrays, Bytes
from reader.columns.column import Column, StoredBatch
from reader.dataset.dataset import Dataset
from reader.decode.decoder import Decoder
from reader.errors import ArgumentError
from reader.gpu_decode.parcels import PARCEL_NUMBERS, Packed, pack, room_for
from reader.samples.pixels import PixelSource, Planned
from reader.samples.sample import Recipe

_CONTENT, _PARCEL = "image:content", "image:parcel"


class _Parcels(PixelSource):
    def image(self, planned: Planned, outs: Sequence[Any] | None) -> Any:
        return pack(planned.view, self._decoder)


@dataclass
class EncodedColumn(Column):
    """The bytes of the images, in memory that a chunk's rows share, and a `Parcel` for each row."""

    decoded: tuple[int, int] = (0, 0)  # (height, width) of the decoded images
    room: int = 0  # bytes for a row
    is_loose: bool = True
    _next: int = field(default=0, compare=False)  # offset of the chunk's next image
    _end: int = field(default=0, compare=False)

    is_image: ClassVar[bool] = True
    work: ClassVar[str] = "splice"

    @classmethod
    def of(
        cls, dataset: Dataset, recipe: Recipe, size: tuple[int, int], *, is_fit: bool, **other: bool
    ) -> "EncodedColumn":
        """Return the column for a recipe; refuse options that need pixels, also each of `other`."""
        if "image" not in recipe.names:
            raise ArgumentError(
                'decode="gpu" needs the field "image". Add it to fields=, or leave decode= out.'
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
                f'decode="gpu" does not support {asked[0]}, because images stay JPEGs until they '
                'are on the GPU. Leave it out, or use decode="cpu".'
            )
        if not is_fit:
            raise ArgumentError(
                'decode="gpu" needs transforms that give all images one size, such as '
                "transforms=[reader.RandomResizedCrop(224)]."
            )
        return cls("image", decoded=size, room=room_for(dataset, size))

    def size(self) -> tuple[ArraySpec, ...]:
        content = ArraySpec(_CONTENT, "|u1", (self.room,))
        return content, ArraySpec(_PARCEL, "<i8", (PARCEL_NUMBERS,))

    def pixel_source(self, decoder: Decoder, decoded: object) -> PixelSource:
        return _Parcels(decoder)

    def check_device(self, device: Any) -> None:
        from reader.gpu_decode.nvjpeg import require

        require(device)

    def begin(self, arrays: BatchArrays, rows: slice) -> None:
        self._next, self._end = rows.start * self.room, rows.stop * self.room

    def store(self, arrays: BatchArrays, row: int, value: Packed) -> bytes | None:
        """Append an image; return its bytes if there is no room left."""
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
        """Store an empty parcel; the bytes of the row may be other rows'."""
        arrays[_PARCEL][row] = 0

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.gpu_decode.images import EncodedImages

        arrays, keys = batch.arrays, batch.texts["key"]
        content = arrays[_CONTENT].reshape(-1)
        return EncodedImages(
            self.decoded, arrays[_PARCEL], content, batch.loose[self.name], keys, arrays["index"]
        )
