"""Feeds a training loop from a packed dataset: shuffle, decode, batch, prefetch.

Every name is imported when it is first used: ``import reader`` loads neither torch nor a decoder.
"""

from typing import TYPE_CHECKING

from reader.lazy import lazy

if TYPE_CHECKING:
    from reader.cuda.prefetcher import CUDAPrefetcher
    from reader.dataset.dataset import Dataset
    from reader.errors import ArgumentError, ReaderError, SampleError, StoreError, WorkerError
    from reader.format.errors import FormatError, ShardfeedError
    from reader.format.limits import Limits
    from reader.geometry import Geometry
    from reader.gpu_decode.images import EncodedImages
    from reader.loader.collate import pad_collate
    from reader.loader.loader import Loader
    from reader.look.batch import show
    from reader.look.pixels import IMAGENET_MEAN, IMAGENET_STD
    from reader.look.sheet import Sheet
    from reader.monitoring.statistics import Statistics
    from reader.order.blocks import BlockShuffle
    from reader.order.buckets import AspectBuckets
    from reader.order.samplers import ClassBalanced, Weighted
    from reader.samples.boxes import Boxes
    from reader.samples.fields import Mask, Member
    from reader.transforms import (
        CenterCrop,
        Letterbox,
        RandomCrop,
        RandomHorizontalFlip,
        RandomResizedCrop,
        RandomVerticalFlip,
        Resize,
        Transform,
    )

__version__ = "0.1.0"

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
    "Member",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "ReaderError",
    "Resize",
    "SampleError",
    "ShardfeedError",
    "Sheet",
    "Statistics",
    "StoreError",
    "Transform",
    "Weighted",
    "WorkerError",
    "__version__",
    "pad_collate",
    "show",
]


__getattr__, __dir__ = lazy(
    __name__,
    {
        "reader.cuda.prefetcher": ("CUDAPrefetcher",),
        "reader.dataset.dataset": ("Dataset",),
        "reader.errors": (
            "ArgumentError",
            "ReaderError",
            "SampleError",
            "StoreError",
            "WorkerError",
        ),
        "reader.format.errors": ("FormatError", "ShardfeedError"),
        "reader.format.limits": ("Limits",),
        "reader.geometry": ("Geometry",),
        "reader.gpu_decode.images": ("EncodedImages",),
        "reader.loader.collate": ("pad_collate",),
        "reader.loader.loader": ("Loader",),
        "reader.look.batch": ("show",),
        "reader.look.pixels": ("IMAGENET_MEAN", "IMAGENET_STD"),
        "reader.look.sheet": ("Sheet",),
        "reader.monitoring.statistics": ("Statistics",),
        "reader.order.blocks": ("BlockShuffle",),
        "reader.order.buckets": ("AspectBuckets",),
        "reader.order.samplers": ("ClassBalanced", "Weighted"),
        "reader.samples.boxes": ("Boxes",),
        "reader.samples.fields": ("Mask", "Member"),
        "reader.transforms": (
            "CenterCrop",
            "Letterbox",
            "RandomCrop",
            "RandomHorizontalFlip",
            "RandomResizedCrop",
            "RandomVerticalFlip",
            "Resize",
            "Transform",
        ),
    },
    present=("__version__",),
    advice="reader.loader.from_torchvision",
)
