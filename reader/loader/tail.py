"""What the values of images are at a place of a pipeline: bytes, floats, normalised, erased.

What comes after the bytes is the batch's output, which the loader makes of the workers' bytes.
"""

from collections.abc import Sequence
from typing import Any

import torch

from reader.checks import is_number
from reader.transforms.batches.channels import Channels
from reader.transforms.batches.erasing import BatchErasing
from reader.transforms.batches.output import Output


class DiffersError(Exception):
    """A transform, or one of its arguments, cannot be taken; the text says which."""


class Tail:
    """Follows a pipeline from transform to transform."""

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self.output: Output | None = None  # None: bytes
        self._is_normalised = False

    @property
    def top(self) -> float:
        """The value that a byte of 255 has here, without a Normalize."""
        return 255.0 if self.output is None else 1 / self.output.std[0]

    def check_place(self, *, moves_only: bool) -> None:
        """Refuse a transform that does not change bytes as it would change what is here.

        `moves_only`: it moves pixels, and adds no border.
        """
        if self.output is None:
            return
        if self.output.erasings:
            raise DiffersError("comes after RandomErasing, which is done last; put it before")
        if not moves_only and (self._is_normalised or self.top != 1):
            raise DiffersError(
                "changes normalised values, but workers change bytes; put it before Normalize and "
                "ToDtype"
            )

    def convert(self, dtype: Any, *, is_scaled: bool) -> None:
        """Follow a conversion to a `dtype`."""
        if dtype == torch.uint8 and self.output is None:
            return
        if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
            raise DiffersError(f"takes a floating-point dtype, not {dtype!r}")
        if self.output is not None:
            self.output = Output(dtype, self.output.mean, self.output.std, self.output.erasings)
            return
        self.output = Output(dtype, std=(1.0,) if is_scaled else (1 / 255,))

    def to_bytes(self) -> None:
        """Follow a conversion to a picture."""
        if self.output is not None and (self._is_normalised or self.output.erasings):
            raise DiffersError("makes pictures of normalised values; put it before Normalize")
        self.output = None

    def normalise(self, mean: Any, std: Any) -> None:
        """Follow a Normalize."""
        if self.output is None:
            raise DiffersError("normalises bytes; put ToTensor, or ToDtype with scale=True, before")
        means, stds = self.of_channels("mean", mean), self.of_channels("std", std)
        if not all(stds):
            raise DiffersError("has a std of 0")
        self.output = self.output.normalised(means, stds)
        self._is_normalised = True

    def erase(self, erasing: BatchErasing) -> None:
        """Follow an erasing of floats."""
        assert self.output is not None
        found = self.output
        self.output = Output(found.dtype, found.mean, found.std, (*found.erasings, erasing))

    def of_channels(self, name: str, given: Any) -> Channels:
        """Return an argument that has a number for each channel, or one for all."""
        values: Any = given.tolist() if hasattr(given, "tolist") else given
        values = values if isinstance(values, Sequence) else [values]
        if len(values) not in (1, self.channels) or not all(map(is_number, values)):
            raise DiffersError(
                f"has {name}={given!r:.100}, but images have {self.channels} "
                f"channel{'s' if self.channels > 1 else ''}"
            )
        return tuple(map(float, values))
