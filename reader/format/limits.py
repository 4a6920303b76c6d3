"""Limits of a sample, because its numbers come from a file that is not trusted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a sample, checked before memory is allocated for it.

    Packing and reading have the same defaults, so that packed samples can be read.

    Attributes:
        pixels: pixels of a stored image or mask.
        bytes: bytes of all files of a sample when it is packed, of one member when it is read.

    Example:
        >>> dataset = reader.Dataset("shards", limits=reader.Limits(pixels=4000, bytes=1 << 20))
        >>> dataset[0]
        Traceback (most recent call last):
            ...
        reader.SampleError: ...
    """

    __module__ = "reader"

    pixels: int = 1 << 28  # 0.8 GB decoded, which a worker can hold beside a batch
    bytes: int = 1 << 30
