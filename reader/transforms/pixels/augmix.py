"""AugMix: a weighted sum of an image and of several chains of operations on it."""

from collections.abc import Sequence
from dataclasses import dataclass

from reader.checks import is_count, is_flag, is_integer, is_number
from reader.errors import ArgumentError
from reader.rng import SampleRandom
from reader.transforms.operations.mixtures import Mixture
from reader.transforms.operations.operation import Operation, Size
from reader.transforms.operations.warps import Fill
from reader.transforms.pixels.automatic import AutomaticTransform, Interpolation
from reader.transforms.pixels.space import Space

_BINS = 10
_MOST_DEPTH = 3

_NAMES = (
    *("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Posterize", "Solarize"),
    *("AutoContrast", "Equalize"),
)
_FACTORS = ("Brightness", "Color", "Contrast", "Sharpness")


def _space(names: tuple[str, ...]) -> Space:
    return Space(names, 0.3, lambda length: length / 3, 30, 0.9, (4, 4))


_SPACES = {True: _space((*_NAMES, *_FACTORS)), False: _space(_NAMES)}


@dataclass(frozen=True)
class AugMix(AutomaticTransform):
    """A random mixture of the image and of `mixture_width` chains of random operations on it.

    Attributes:
        severity: magnitudes are drawn below it; from 1 to 10.
        mixture_width: number of chains.
        chain_depth: operations in a chain; below 1, a random number from 1 to 3.
        alpha: concentration of the random weights.
        all_ops: also brightness, colour, contrast and sharpness.
        interpolation: "nearest" or "bilinear", for shears, turns and translations.
        fill: level of what they uncover, or one for each channel.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.AugMix(severity=3)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    severity: int = 3
    mixture_width: int = 3
    chain_depth: int = -1
    alpha: float = 1.0
    all_ops: bool = True
    interpolation: Interpolation = "bilinear"
    fill: Fill = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_count(self.severity) or self.severity > _BINS:
            raise ArgumentError(f"{self}: severity is an integer from 1 to {_BINS}.")
        if not is_count(self.mixture_width) or not is_integer(self.chain_depth):
            raise ArgumentError(
                f"{self}: mixture_width is an integer of at least 1, and chain_depth an integer."
            )
        if not is_number(self.alpha) or self.alpha <= 0:
            raise ArgumentError(f"{self}: alpha is a number above 0.")
        if not is_flag(self.all_ops):
            raise ArgumentError(f"{self}: all_ops is True or False.")

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the weights and the chains."""
        space = _SPACES[bool(self.all_ops)]
        own, rest = rng.dirichlet(self.alpha, 2)
        chains = []
        for weight in rng.dirichlet(self.alpha, self.mixture_width):
            depth = self.chain_depth if self.chain_depth > 0 else 1 + rng.integer(_MOST_DEPTH)
            chain: list[Operation] = []
            for _ in range(depth):
                name, share = space.name(rng), rng.integer(self.severity) / (_BINS - 1)
                chain += self.chosen(space, name, share, size, rng)
            chains.append((weight * rest, chain))
        return [Mixture(own, chains)]
