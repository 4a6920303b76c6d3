"""Pipelines of transforms."""

from collections.abc import Sequence
from typing import Any

from reader import (
    CenterCrop,
    ColorJitter,
    GaussianBlur,
    GaussianNoise,
    Geometry,
    Letterbox,
    RandomAdjustSharpness,
    RandomApply,
    RandomChoice,
    RandomCrop,
    RandomHorizontalFlip,
    RandomInvert,
    RandomOrder,
    RandomPosterize,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)


class _Middle:
    """A transform of one's own: nine tenths of the image, from its middle."""

    def apply(self, geometry: Geometry, rng: Any) -> None:
        height, width = geometry.height, geometry.width
        geometry.crop(height // 20, width // 20, height * 9 // 10, width * 9 // 10)


_LITTLE = (0.98, 1.02)  # so that colours still tell the samples

TRANSFORMS: dict[str, Sequence[Any]] = {
    "none": (),
    "resize": (Resize((56, 40)),),
    "shorter": (Resize(60, "bicubic"),),
    "longest": (Resize(longest=50, antialias=True),),
    "nearest": (Resize((96, 90), "nearest"),),
    "letterbox": (Letterbox(80),),
    "black_box": (Letterbox((50, 72), fill=0, antialias=True),),
    "center": (CenterCrop(38),),
    "padded": (CenterCrop((80, 90)),),
    "random": (RandomCrop(34, padding=6),),
    "if_needed": (RandomCrop((50, 46), pad_if_needed=True, fill=0),),
    "resized": (RandomResizedCrop(44, scale=(0.5, 1.0)),),
    "mirror": (RandomHorizontalFlip(1.0),),
    "upside_down": (RandomVerticalFlip(1.0), Resize((48, 48))),
    "often": (Resize(44), RandomHorizontalFlip(0.5), RandomCrop(40), RandomVerticalFlip(0.5)),
    "chosen": (
        RandomChoice([RandomHorizontalFlip(1.0), RandomVerticalFlip(1.0)], p=[0.7, 0.3]),
        RandomApply([RandomVerticalFlip(1.0)], p=0.5),
        RandomOrder([Resize((64, 56)), RandomHorizontalFlip(0.5)]),
    ),
    "colours": (
        ColorJitter(brightness=_LITTLE, contrast=_LITTLE, saturation=_LITTLE, hue=0.005),
        RandomPosterize(7, p=1.0),
        GaussianBlur(3, sigma=0.3),
        RandomAdjustSharpness(1.1, p=1.0),
    ),
    "distorted": (
        RandomHorizontalFlip(0.5),
        RandomInvert(1.0),
        GaussianNoise(0.0, sigma=0.01, clip=True),
        RandomInvert(1.0),
    ),
    "own": (_Middle(), RandomHorizontalFlip(0.5)),
}
