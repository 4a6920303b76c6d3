"""How much a sample may ask for: its numbers come from a file that anybody may have written."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What exceeds them is refused before memory is taken for it.

    Packing and reading have the same defaults, so that what is packed can be read.

    Attributes:
        pixels: of an image or a mask, as stored.
        bytes: of a sample's files together when it is packed, of one member when it is read.

    Example:
        >>> dataset = reader.Dataset("shards", limits=reader.Limits(pixels=4000, bytes=1 << 20))
        >>> dataset[0]
        Traceback (most recent call last):
            ...
        reader.SampleError: ...
    """

    __module__ = "reader"

    pixels: int = 1 << 29  # half a gigapixel; 1.6 GB decoded
    bytes: int = 1 << 30
