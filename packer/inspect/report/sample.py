"""One sample as the report reads it: its bytes compared, its image drawn small, its members."""

import zlib
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer.inspect.report.annotations import Annotated, Reading, annotated
from reader.decode.decoder import Decoder
from reader.decode.plan import View, plan
from reader.decode.stored import StoredImage
from reader.errors import SampleError
from reader.format.members import picture_format
from reader.geometry import Geometry
from reader.samples.fields import PHOTOGRAPHS
from reader.samples.whole import WholeSamples

if TYPE_CHECKING:
    from reader import Dataset

TEXTS = ("json", "txt")


def is_mask(ext: str) -> bool:
    """Whether a member of this extension is a picture that holds classes, and no photograph."""
    return picture_format(ext) is not None and picture_format(ext) not in PHOTOGRAPHS


class Sample:
    """A sample of a dataset by its number.

    Raises:
        ReaderError, FormatError: its shard cannot be opened.
    """

    def __init__(self, dataset: "Dataset", number: int) -> None:
        self._shard, self._row = dataset.locate(number)
        self.number = number
        self.key = self._shard.index.key(self._row)
        self.name = self._shard.index.name(self._row)

    @property
    def members(self) -> list[str]:
        """Extensions of the members that it has."""
        index = self._shard.index
        return [ext for ext in index.members if index.span(ext, self._row) is not None]

    @cached_property
    def data(self) -> bytes:
        """The image's bytes.

        Raises:
            SampleError: they are not those that were packed.
        """
        columns = self._shard.index.columns
        image = self._shard.image(self._row)
        data = bytes(image.read(0, image.size))
        if zlib.crc32(data) != columns["crc32"][self._row]:
            raise SampleError("its bytes are not those that were packed")
        return data

    @property
    def digest(self) -> int:
        """A checksum of the image's bytes, of 64 bits."""
        return xxhash.xxh3_64_intdigest(self.data)

    @cached_property
    def _image(self) -> StoredImage:
        content = memoryview(self.data)
        image = self._shard.image(self._row)
        return replace(image, read=lambda start, stop: content[start:stop])

    @property
    def size(self) -> tuple[int, int]:
        """(height, width) of the upright image."""
        return self._image.upright_size

    def _view(self, longest: int) -> View:
        height, width = self.size
        scale = min(1.0, longest / max(height, width))
        geometry = Geometry.of(height, width)
        geometry.resize(max(round(height * scale), 1), max(round(width * scale), 1))
        return plan(self._image, geometry)

    def drawn(self, longest: int) -> NDArray[np.uint8]:
        """The upright image, no side longer than `longest`, (height, width, 3).

        Raises:
            DecodeError, SampleError: it does not decode.
        """
        view = self._view(longest)
        out = np.empty((*view.size, 3), np.uint8)
        Decoder().draw(view, out)
        return out

    def annotated(self, reading: Reading) -> Annotated:
        """What its members tell, in fractions of the upright image.

        Raises:
            ValueError, SampleError: a member is not what it should be.
        """
        found = annotated(self.texts, reading)
        if found.is_upright or not (len(found.boxes) or found.outlines):
            return found
        view = plan(self._image, Geometry.of(*self.size))
        scale = (self._image.width, self._image.height) if reading.normalized else (1, 1)
        return found.carried(lambda points: view.carry(points * scale) / view.size[::-1])

    @property
    def texts(self) -> list[tuple[str, bytes]]:
        """The members that may hold boxes, by extension."""
        return [(ext, self._shard.read(self._row, ext)) for ext in self.members if ext in TEXTS]

    def mask(self, ext: str) -> NDArray[Any]:
        """The values of a picture of classes, upright, (height, width[, channels]).

        Raises:
            DecodeError, SampleError: it does not decode, or does not cover its image.
        """
        values = WholeSamples(self._shard).member(self._row, ext)
        view = plan(self._shard.image(self._row), Geometry.of(*self.size))
        values = values.swapaxes(0, 1) if view.transpose else values
        return values[:: -1 if view.vflip else 1, :: -1 if view.hflip else 1]
