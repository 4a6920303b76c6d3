"""Feeds a training loop from a packed data set: shuffle, decode, batch, prefetch.

``import reader`` does not import torch; `Loader` and `CUDAPrefetcher` bring it in when first used.
"""

from typing import TYPE_CHECKING, Any

from reader.dataset import Dataset
from reader.errors import ReaderError, SampleError, WorkerError
from reader.format import FormatError, ShardfeedError
from reader.transforms import (
    CenterCrop,
    Geometry,
    RandomHorizontalFlip,
    RandomResizedCrop,
    Resize,
    Transform,
)

if TYPE_CHECKING:
    from reader.cuda import CUDAPrefetcher
    from reader.loader import Loader
    from reader.sampling import BlockShuffle, ClassBalanced
    from reader.statistics import Statistics

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

__all__ = [
    "IMAGENET_MEAN",
    "IMAGENET_STD",
    "BlockShuffle",
    "CUDAPrefetcher",
    "CenterCrop",
    "ClassBalanced",
    "Dataset",
    "FormatError",
    "Geometry",
    "Loader",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "ReaderError",
    "Resize",
    "SampleError",
    "ShardfeedError",
    "Statistics",
    "Transform",
    "WorkerError",
]

# Imported when first used: workers, which should start fast, need none of them.
_LATER = {
    "BlockShuffle": "reader.sampling",
    "CUDAPrefetcher": "reader.cuda",
    "ClassBalanced": "reader.sampling",
    "Loader": "reader.loader",
    "Statistics": "reader.statistics",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'reader' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
