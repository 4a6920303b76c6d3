"""Feeds a training loop from a packed data set: shuffle, decode, batch, prefetch.

``import reader`` does not import torch; `Loader` and `CUDAPrefetcher` bring it in when first used.
"""

from typing import TYPE_CHECKING, Any

from reader.dataset.dataset import Dataset
from reader.errors import (
    ArgumentError,
    ReaderError,
    SampleError,
    WorkerError,
)
from reader.format import (
    FormatError,
    Limits,
    ShardfeedError,
)
from reader.samples.fields import (
    Boxes,
    Mask,
)
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
    from reader.cuda.prefetcher import CUDAPrefetcher
    from reader.gpu_decode.images import EncodedImages
    from reader.loader.collate import pad_collate
    from reader.loader.loader import Loader
    from reader.loader.statistics import Statistics
    from reader.order.buckets import AspectBuckets
    from reader.order.samplers import (
        BlockShuffle,
        ClassBalanced,
    )

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

__all__ = [
    "IMAGENET_MEAN",
    "IMAGENET_STD",
    "ArgumentError",
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
    "AspectBuckets": "reader.order.buckets",
    "BlockShuffle": "reader.order.samplers",
    "CUDAPrefetcher": "reader.cuda.prefetcher",
    "ClassBalanced": "reader.order.samplers",
    "EncodedImages": "reader.gpu_decode.images",
    "Loader": "reader.loader.loader",
    "Statistics": "reader.loader.statistics",
    "pad_collate": "reader.loader.collate",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'reader' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
