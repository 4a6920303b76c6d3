"""One field of a batch: its arrays, how a row is stored, and what the loop gets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from reader.batch.layout import ArraySpec, BatchArrays
from reader.decode.decoder import Decoder
from reader.fields.decoded_cache import DecodedImages
from reader.fields.pixels import PixelSource, pixel_source
from reader.fields.values import InArray, are_views


class StoredBatch(NamedTuple):
    rows: int  # of a full batch
    arrays: BatchArrays
    loose: Mapping[str, Sequence[Any]]  # by column, the rows' values that are not in arrays
    texts: Mapping[str, Sequence[str]]  # the keys and names of all samples
    sources: Callable[[Any], Any] = np.zeros_like  # of sample numbers: see `Dataset.sources`


@dataclass
class Column:
    name: str

    is_drawn: ClassVar[bool] = False  # images are decoded into the array, without `store`
    is_loose: bool = False  # `store` may return a value, which is sent by message
    is_gathered: ClassVar[bool] = False  # `RawBatchReader` can fill it
    is_image: ClassVar[bool] = False  # it is delivered as images are
    work: ClassVar[str] = "decode"  # what workers do for it

    def pixel_source(self, decoder: Decoder, decoded: DecodedImages | None) -> PixelSource:
        return pixel_source(decoder, decoded)

    @property
    def parts(self) -> "Sequence[Column]":
        return (self,)

    def size(self) -> tuple[ArraySpec, ...]:
        return ()

    def begin(self, arrays: BatchArrays, rows: slice, drawn: int) -> None:
        """Begin with the rows of a chunk, in a batch whose first `drawn` images are decoded."""

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        """Store a row's value; return `InArray`, or the value itself if it is not in an array."""
        raise NotImplementedError

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        for spec in self.size():
            arrays[spec.name][row] = 0
        return InArray if self.size() else None

    def gather(self, arrays: BatchArrays, raw: Mapping[str, Any]) -> None:
        """Store all rows of a chunk at once."""

    def deliver(self, batch: StoredBatch) -> Any:
        raise NotImplementedError

    def rows_of(self, delivered: Any) -> Any:
        is_number = hasattr(delivered, "dim") and delivered.dim() == 1
        return delivered.tolist() if is_number else delivered


@dataclass
class TextColumn(Column):
    is_gathered: ClassVar[bool] = True

    def deliver(self, batch: StoredBatch) -> list[str]:
        texts = batch.texts[self.name]
        return [texts[number] for number in batch.arrays["index"].tolist()]


@dataclass
class OwnColumn(Column):
    """The number or the validity of each sample, which every batch has."""

    is_gathered: ClassVar[bool] = True

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.fields.tensors import from_numpy

        return from_numpy(batch.arrays[self.name])


@dataclass
class SourceColumn(Column):
    """Which dataset of a Mix each sample is from, which its number tells."""

    is_gathered: ClassVar[bool] = True

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.fields.tensors import from_numpy

        return from_numpy(batch.sources(batch.arrays["index"]))


@dataclass
class LabelColumn(OwnColumn):
    """Numbers of a sample, int64, such as its class, -1 for none."""

    shape: tuple[int, ...] = ()
    absent: int = -1

    def size(self) -> tuple[ArraySpec, ...]:
        return (ArraySpec(self.name, "<i8", self.shape),)

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        arrays[self.name][row] = value
        return InArray

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        return self.store(arrays, row, self.absent)

    def gather(self, arrays: BatchArrays, raw: Mapping[str, Any]) -> None:
        arrays[self.name][:] = raw[self.name]


@dataclass
class ViewsColumn(Column):
    views: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        self.is_loose = any(view.is_loose for view in self.views)

    @property
    def is_image(self) -> bool:  # type: ignore[override]
        return self.views[0].is_image

    @property
    def parts(self) -> Sequence[Column]:
        return self.views

    def size(self) -> tuple[ArraySpec, ...]:
        return tuple(spec for view in self.views for spec in view.size())

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        if not are_views(value, len(self.views)):
            raise ValueError(
                f"its {self.name} is not a list of {len(self.views)} views, unlike the first "
                "sample's; give collate_fn= to batch values that differ"
            )
        return [c.store(arrays, row, one) for c, one in zip(self.views, value, strict=True)]

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        return [view.mask(arrays, row) for view in self.views]

    def deliver(self, batch: StoredBatch) -> list[Any]:
        loose = zip(*batch.loose[self.name], strict=True) if self.is_loose else ()
        given = {view.name: rows for view, rows in zip(self.views, loose, strict=False)}
        return [view.deliver(batch._replace(loose=given)) for view in self.views]

    def rows_of(self, delivered: Any) -> Any:
        return list(zip(*delivered, strict=True))
