"""Feeds a training loop from a packed data set: shuffle, decode, batch, prefetch.

``import reader`` does not import torch; `Loader` and `CUDAPrefetcher` bring it in when first used.
"""

from typing import TYPE_CHECKING, Any

from reader.dataset import Dataset
from reader.errors import ReaderError, SampleError, WorkerError
from reader.fields import Boxes, Mask
from reader.format import FormatError, Limits, ShardfeedError
from reader.transforms import (
    CenterCrop,
    Geometry,
    Letterbox,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    Transform,
)

if TYPE_CHECKING:
    from reader.batch import pad_collate
    from reader.buckets import AspectBuckets
    from reader.cuda import CUDAPrefetcher
    from reader.encoded import EncodedImages
    from reader.loader import Loader
    from reader.sampling import BlockShuffle, ClassBalanced
    from reader.statistics import Statistics

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

__all__ = [
    "IMAGENET_MEAN",
    "IMAGENET_STD",
    "AspectBuckets",
    "BlockShuffle",
    "Boxes",
    "CUDAPrefetcher",
    "CenterCrop",
    "ClassBalanced",
    "Dataset",
    "EncodedImages",
    "FormatError",
    "Geometry",
    "Letterbox",
    "Limits",
    "Loader",
    "Mask",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "ReaderError",
    "Resize",
    "SampleError",
    "ShardfeedError",
    "Statistics",
    "Transform",
    "WorkerError",
    "pad_collate",
]

# Imported when first used: workers, which should start fast, need none of them.
_LATER = {
    "AspectBuckets": "reader.buckets",
    "BlockShuffle": "reader.sampling",
    "CUDAPrefetcher": "reader.cuda",
    "ClassBalanced": "reader.sampling",
    "EncodedImages": "reader.encoded",
    "Loader": "reader.loader",
    "Statistics": "reader.statistics",
    "pad_collate": "reader.batch",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'reader' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
