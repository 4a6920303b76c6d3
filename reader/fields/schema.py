"""The columns of a batch, and their arrays in a slot."""

from dataclasses import dataclass
from functools import cached_property

from reader.batch.layout import ArraySpec, BatchLayout
from reader.fields.column import Column, LabelColumn
from reader.fields.image import ImageColumn

# Arrays of every batch: the samples' numbers, their validity, and (height, width) of their images.
_OWN = ArraySpec("index", "<i8"), ArraySpec("valid", "|b1"), ArraySpec("shape", "<i4", (2,))


@dataclass(frozen=True)
class BatchSchema:
    rows: int  # samples in a batch
    columns: tuple[Column, ...]
    is_gathered: bool = False  # whole chunks are filled at once, by `reader.fields.raw`

    @classmethod
    def of_images(cls, rows: int, size: tuple[int, int]) -> "BatchSchema":
        return cls(rows, (ImageColumn("image", room=size), LabelColumn("label")))

    @cached_property
    def layout(self) -> BatchLayout:
        specs = [spec for column in self.columns for spec in column.size()]
        return BatchLayout(self.rows, (*specs, *_OWN))

    @cached_property
    def image(self) -> Column:
        found = (column.parts[0] for column in self.columns if column.name == "image")
        return next(found, Column("image"))

    @property
    def loose(self) -> list[str]:
        return [column.name for column in self.columns if column.is_loose]
