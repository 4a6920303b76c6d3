"""Which class of torchvision is which of reader's, by its name."""

from typing import Any

from reader.transforms.choices import RandomApply, RandomChoice, RandomOrder
from reader.transforms.geometry.crops import CenterCrop, RandomCrop, RandomResizedCrop
from reader.transforms.geometry.flips import RandomHorizontalFlip, RandomVerticalFlip
from reader.transforms.geometry.resizes import Resize
from reader.transforms.pixels.augmix import AugMix
from reader.transforms.pixels.automatic import AutoAugment, RandAugment, TrivialAugmentWide
from reader.transforms.pixels.colours import (
    ColorJitter,
    Grayscale,
    RandomChannelPermutation,
    RandomGrayscale,
    RandomPhotometricDistort,
)
from reader.transforms.pixels.neighbours import GaussianBlur, RandomAdjustSharpness
from reader.transforms.pixels.noise import GaussianNoise, RandomErasing
from reader.transforms.pixels.values import (
    RandomAutocontrast,
    RandomEqualize,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)

_OWN: tuple[type[Any], ...] = (
    AugMix,
    AutoAugment,
    CenterCrop,
    ColorJitter,
    GaussianBlur,
    GaussianNoise,
    Grayscale,
    RandAugment,
    RandomAdjustSharpness,
    RandomApply,
    RandomAutocontrast,
    RandomChannelPermutation,
    RandomChoice,
    RandomCrop,
    RandomEqualize,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomInvert,
    RandomOrder,
    RandomPhotometricDistort,
    RandomPosterize,
    RandomResizedCrop,
    RandomSolarize,
    RandomVerticalFlip,
    Resize,
    TrivialAugmentWide,
)
OWN = {kind.__name__: kind for kind in _OWN}
