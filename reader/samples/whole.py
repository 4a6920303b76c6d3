"""Whole samples of a shard, decoded as a Loader does it: for who asks whether they decode."""

from typing import Any

from reader.dataset.shard import Shard
from reader.decode.decoder import Decoder, Pixels
from reader.decode.formats import read_values
from reader.decode.plan import plan
from reader.format.bands import bands_of
from reader.format.errors import DecodeError
from reader.format.members import DECODERS, kind_of, picture_format
from reader.geometry import Geometry
from reader.samples.fields import PHOTOGRAPHS


class WholeSamples:
    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._decoder = Decoder()

    def image(self, row: int) -> Pixels:
        return self._decoder.whole(self._shard.image(row))

    def member(self, row: int, ext: str) -> Any:
        """What the member is: its own rule is that of its extension."""
        image, data = self._shard.image(row), self._shard.read(row, ext)
        kind = picture_format(ext)
        try:
            if kind is None:
                return DECODERS.get(kind_of(ext), bytes)(data)
            if kind in PHOTOGRAPHS:
                return self._decoder.whole(image.covered_by(data, kind))
            bands = bands_of(self._shard.index.columns, row, ext)
            view = plan(image, Geometry.of(*image.upright_size)).of_other(data, kind, bands)
            return read_values([view])[0]
        except (DecodeError, MemoryError):
            raise
        except Exception as error:  # decoders raise what they like
            raise DecodeError(str(error) or type(error).__name__) from error
