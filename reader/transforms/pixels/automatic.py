"""RandAugment, TrivialAugmentWide and AutoAugment: random operations of a fixed list."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from reader.checks import is_count, is_integer, is_number
from reader.errors import ArgumentError
from reader.rng import SampleRandom
from reader.transforms.operations.operation import Operation, Size
from reader.transforms.operations.warps import Fill
from reader.transforms.pixels.pixel_transform import PixelTransform, check_colour
from reader.transforms.pixels.policies import POLICIES
from reader.transforms.pixels.space import Space

Interpolation = str | int | Enum

# torchvision's names, and Pillow's numbers, which torchvision also accepts.
_INTERPOLATIONS = {"nearest": 0, "bilinear": 2}

_PLAIN = (
    *("Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color"),
    *("Contrast", "Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"),
)


def _by_share(length: int) -> float:
    return 150 / 331 * length


_RAND = Space(_PLAIN, shear=0.3, shift=_by_share, turn=30, strength=0.9, bits=(8, 4))
_WIDE = Space(_PLAIN, shear=0.99, shift=lambda _: 32, turn=135, strength=0.99, bits=(8, 6))
_AUTO_BINS = 10


class AutomaticTransform(PixelTransform):
    """Base of the transforms that choose operations, also warps, of a `Space`."""

    moves_pixels = True

    interpolation: Interpolation
    fill: Fill

    def __post_init__(self) -> None:
        given = getattr(self.interpolation, "value", self.interpolation)
        for name, number in _INTERPOLATIONS.items():
            if given == name or (is_integer(given) and given == number):
                object.__setattr__(self, "interpolation", name)
                break
        else:
            raise ArgumentError(f"{self}: interpolation is nearest or bilinear.")
        fill = self.fill if isinstance(self.fill, Sequence) else [self.fill or 0]
        if isinstance(fill, str) or not all(is_number(one) and 0 <= one <= 255 for one in fill):
            raise ArgumentError(f"{self}: fill is a number from 0 to 255, one for each channel.")

    def check(self, channels: int) -> None:
        """Refuse a fill with another number of channels."""
        check_colour(self, "fill", self.fill, channels)

    def chosen(
        self, space: Space, name: str, share: float, size: Size, rng: SampleRandom
    ) -> Sequence[Operation]:
        """Return an operation by its name, with a magnitude of that share and a drawn sign."""
        return space.operations(name, share, size, rng, str(self.interpolation), self.fill)


@dataclass(frozen=True)
class RandAugment(AutomaticTransform):
    """`num_ops` random operations of 14, each with the same magnitude.

    Attributes:
        num_ops: number of operations.
        magnitude: from 0 to ``num_magnitude_bins - 1``.
        interpolation: "nearest" or "bilinear", for shears, turns and translations.
        fill: level of what they uncover, or one for each channel.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandAugment(num_ops=2, magnitude=9)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    num_ops: int = 2
    magnitude: int = 9
    num_magnitude_bins: int = 31
    interpolation: Interpolation = "nearest"
    fill: Fill = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_integer(self.num_ops) or self.num_ops < 0:
            raise ArgumentError(f"{self}: num_ops is an integer of at least 0.")
        _check_bins(self, self.num_magnitude_bins)
        if not is_integer(self.magnitude) or not 0 <= self.magnitude < self.num_magnitude_bins:
            raise ArgumentError(f"{self}: magnitude is an integer below num_magnitude_bins.")

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the operations."""
        share, found = self.magnitude / (self.num_magnitude_bins - 1), list[Operation]()
        for _ in range(self.num_ops):
            found += self.chosen(_RAND, _RAND.name(rng), share, size, rng)
        return found


@dataclass(frozen=True)
class TrivialAugmentWide(AutomaticTransform):
    """One random operation of 14, with a random magnitude.

    `RandAugment` describes the arguments.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.TrivialAugmentWide()]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    num_magnitude_bins: int = 31
    interpolation: Interpolation = "nearest"
    fill: Fill = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_bins(self, self.num_magnitude_bins)

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the operation."""
        name = _WIDE.name(rng)
        share = rng.integer(self.num_magnitude_bins) / (self.num_magnitude_bins - 1)
        return self.chosen(_WIDE, name, share, size, rng)


@dataclass(frozen=True)
class AutoAugment(AutomaticTransform):
    """Two operations of a learnt policy: "imagenet", "cifar10", "svhn", or torchvision's enum.

    `RandAugment` describes the other arguments.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.AutoAugment("cifar10")]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    policy: str | Enum = "imagenet"
    interpolation: Interpolation = "nearest"
    fill: Fill = None

    def __post_init__(self) -> None:
        super().__post_init__()
        name = getattr(self.policy, "value", self.policy)
        if not isinstance(name, str) or name not in POLICIES:
            raise ArgumentError(f"{self}: policy is one of {', '.join(POLICIES)}.")
        object.__setattr__(self, "policy", name)

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the pair of operations, and whether each is done."""
        pairs, found = POLICIES[str(self.policy)], list[Operation]()
        for name, p, level in pairs[rng.integer(len(pairs))]:
            if rng.uniform() <= p:
                share = (level or 0) / (_AUTO_BINS - 1)
                found += self.chosen(_RAND, name, share, size, rng)
        return found


def _check_bins(transform: object, bins: object) -> None:
    if not is_count(bins) or bins == 1:
        raise ArgumentError(f"{transform}: num_magnitude_bins is an integer of at least 2.")
