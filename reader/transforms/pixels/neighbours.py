"""Transforms that mix a pixel with those around it."""

from collections.abc import Sequence
from dataclasses import dataclass

from reader.checks import is_count, is_number
from reader.errors import ArgumentError
from reader.rng import SampleRandom
from reader.transforms.operations.neighbours import Blur, Sharpness
from reader.transforms.operations.operation import Operation, Size
from reader.transforms.pixels.pixel_transform import Chance, PixelTransform


@dataclass(frozen=True)
class GaussianBlur(PixelTransform):
    """A Gaussian blur with a random deviation.

    Attributes:
        kernel_size: an odd number of pixels, or ``(width, height)``. The kernel ends where its
            weights fall below 1/512.
        sigma: deviation in pixels, drawn from ``(least, most)``; one number is fixed.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.GaussianBlur(23, sigma=(0.1, 2.0))]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    kernel_size: int | Sequence[int]
    sigma: float | Sequence[float] = (0.1, 2.0)

    def __post_init__(self) -> None:
        if not 1 <= len(self._kernel) <= 2 or not all(
            is_count(side) and side % 2 for side in self._kernel
        ):
            raise ArgumentError(f"{self}: kernel_size is an odd number, or (width, height).")
        ends = self._sigma
        if len(ends) != 2 or not all(map(is_number, ends)) or not 0 < ends[0] <= ends[1]:
            raise ArgumentError(f"{self}: sigma is a number above 0, or (least, most) of them.")

    @property
    def _kernel(self) -> Sequence[int]:
        given = self.kernel_size
        return given if isinstance(given, Sequence) else (given,)

    @property
    def _sigma(self) -> Sequence[float]:
        given = self.sigma
        return given if isinstance(given, Sequence) else (given, given)

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the deviation."""
        return [Blur(self._kernel[0], self._kernel[-1], rng.uniform(*self._sigma))]


@dataclass(frozen=True)
class RandomAdjustSharpness(Chance):
    """Another sharpness, with probability `p`: 0 is smoothed, 1 as it was, 2 twice as sharp.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomAdjustSharpness(2)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    sharpness_factor: float
    p: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.sharpness_factor) or self.sharpness_factor < 0:
            raise ArgumentError(f"{self}: sharpness_factor is a number of at least 0.")

    def operation(self) -> Operation:
        """Return what is done."""
        return Sharpness(self.sharpness_factor)
