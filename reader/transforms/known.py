"""Which class of torchvision is which of reader's, by its name."""

from typing import Any

from reader.transforms.geometry.crops import CenterCrop, RandomCrop, RandomResizedCrop
from reader.transforms.geometry.flips import RandomHorizontalFlip, RandomVerticalFlip
from reader.transforms.geometry.resizes import Resize

_OWN: tuple[type[Any], ...] = (
    CenterCrop,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)
OWN = {kind.__name__: kind for kind in _OWN}
