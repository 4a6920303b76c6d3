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
    from reader.loader.statistics import Statistics
    from reader.look.batch import show
    from reader.look.sheet import Sheet
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


def _instead_of(name: str) -> str | None:
    """Return the advice for a transform of torchvision's that is asked for here."""
    from reader.loader.from_torchvision import instead_of

    return instead_of(name)


__getattr__, __dir__ = lazy(
    __name__,
    {
        "ArgumentError": "reader.errors",
        "AspectBuckets": "reader.order.buckets",
        "BlockShuffle": "reader.order.blocks",
        "Boxes": "reader.samples.boxes",
        "CUDAPrefetcher": "reader.cuda.prefetcher",
        "CenterCrop": "reader.transforms",
        "ClassBalanced": "reader.order.samplers",
        "Dataset": "reader.dataset.dataset",
        "EncodedImages": "reader.gpu_decode.images",
        "FormatError": "reader.format.errors",
        "Geometry": "reader.geometry",
        "Letterbox": "reader.transforms",
        "Limits": "reader.format.limits",
        "Loader": "reader.loader.loader",
        "Mask": "reader.samples.fields",
        "Member": "reader.samples.fields",
        "RandomCrop": "reader.transforms",
        "RandomHorizontalFlip": "reader.transforms",
        "RandomResizedCrop": "reader.transforms",
        "RandomVerticalFlip": "reader.transforms",
        "ReaderError": "reader.errors",
        "Resize": "reader.transforms",
        "SampleError": "reader.errors",
        "ShardfeedError": "reader.format.errors",
        "Sheet": "reader.look.sheet",
        "Statistics": "reader.loader.statistics",
        "StoreError": "reader.errors",
        "Transform": "reader.transforms",
        "Weighted": "reader.order.samplers",
        "WorkerError": "reader.errors",
        "pad_collate": "reader.loader.collate",
        "show": "reader.look.batch",
    },
    present=("IMAGENET_MEAN", "IMAGENET_STD", "__version__"),
    instead_of=_instead_of,
)
