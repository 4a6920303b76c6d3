"""Images that are decoded into a batch's array."""

from dataclasses import dataclass
from typing import Any, ClassVar

from reader.batch.layout import ArraySpec, BatchArrays, Bytes
from reader.fields.column import Column, StoredBatch
from reader.fields.values import in_own_shape


@dataclass
class ImageColumn(Column):
    """One view of the images: uint8 (height, width, channels), smaller ones at the beginning."""

    room: tuple[int, int] = (0, 0)
    channels: int = 3
    is_listed: bool = False  # they differ in size, and are delivered as a list

    is_drawn: ClassVar[bool] = True
    is_gathered: ClassVar[bool] = True
    is_image: ClassVar[bool] = True

    def size(self) -> tuple[ArraySpec, ...]:
        return (ArraySpec(self.name, "|u1", (*self.room, self.channels)),)

    def out(self, arrays: BatchArrays, row: int, height: int, width: int) -> Bytes:
        if not self.is_listed and (height, width) != self.room:  # dataset.json may be wrong
            most, across = self.room
            raise ValueError(
                f"its image would have {height} x {width} pixels in a batch of {most} x {across}: "
                "dataset.json has other sizes than the index, or a transform gives several"
            )
        return in_own_shape(arrays[self.name][row], height, width)

    def deliver(self, batch: StoredBatch) -> Any:
        """Return a tensor (B, channels, H, W) in channels_last memory, or a list."""
        from reader.fields.tensors import from_numpy, listed

        images = batch.arrays[self.name]
        if not self.is_listed:
            return from_numpy(images).permute(0, 3, 1, 2)
        shapes = zip(images, batch.arrays["shape"].tolist(), strict=True)
        own = [from_numpy(in_own_shape(image, *shape)).permute(2, 0, 1) for image, shape in shapes]
        return listed(own, batch.rows)
