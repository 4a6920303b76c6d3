"""Pipelines of transforms."""

from collections.abc import Sequence
from typing import Any

from reader import (
    CenterCrop,
    Geometry,
    Letterbox,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)


class _Middle:
    """A transform of one's own: nine tenths of the image, from its middle."""

    def apply(self, geometry: Geometry, rng: Any) -> None:
        height, width = geometry.height, geometry.width
        geometry.crop(height // 20, width // 20, height * 9 // 10, width * 9 // 10)


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
    "own": (_Middle(), RandomHorizontalFlip(0.5)),
}
