"""The operations that automatic augmentation chooses from, by torchvision's names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reader.rng import SampleRandom
from reader.transforms.operations.linear import Brightness, Contrast, Saturation
from reader.transforms.operations.neighbours import Sharpness
from reader.transforms.operations.operation import Operation, Size
from reader.transforms.operations.values import (
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Solarize,
)
from reader.transforms.operations.warps import (
    Fill,
    Matrix,
    Warp,
    moved,
    sheared_across,
    sheared_down,
    turned,
)

_FACTORS: dict[str, Callable[[float], Operation]] = {
    "Brightness": Brightness,
    "Color": Saturation,
    "Contrast": Contrast,
    "Sharpness": Sharpness,
}
_FIXED: dict[str, Callable[[], Operation]] = {
    "AutoContrast": AutoContrast,
    "Equalize": Equalize,
    "Invert": Invert,
}


@dataclass(frozen=True)
class Space:
    """Names of operations, and the largest magnitude of each."""

    names: tuple[str, ...]
    shear: float  # slope
    shift: Callable[[int], float]  # pixels, of the length of the side
    turn: float  # degrees
    strength: float  # added to a factor of 1
    bits: tuple[int, int]  # of Posterize without magnitude, and how many less with the largest

    def name(self, rng: SampleRandom) -> str:
        """Draw a name."""
        return self.names[rng.integer(len(self.names))]

    def operations(
        self,
        name: str,
        share: float,
        size: Size,
        rng: SampleRandom,
        interpolation: str,
        fill: Fill,
    ) -> Sequence[Operation]:
        """Return an operation with a `share` of its largest magnitude, and a drawn sign."""
        if name == "Identity":
            return []
        if name in _FIXED:
            return [_FIXED[name]()]
        if name == "Posterize":
            return [Posterize(round(self.bits[0] - share * self.bits[1]))]
        if name == "Solarize":
            return [Solarize(255 * (1 - share))]
        share = -share if rng.uniform() <= 0.5 else share
        if name in _FACTORS:
            return [_FACTORS[name](1 + share * self.strength)]
        return [Warp(self._matrix(name, share, size), interpolation, fill)]

    def _matrix(self, name: str, share: float, size: Size) -> Matrix:
        if name == "ShearX":
            return sheared_across(share * self.shear)
        if name == "ShearY":
            return sheared_down(share * self.shear)
        if name == "TranslateX":
            return moved(int(share * self.shift(size[1])), 0)
        if name == "TranslateY":
            return moved(0, int(share * self.shift(size[0])))
        return turned(share * self.turn, size)
