"""Feed a training loop from a packed dataset: shuffle, decode, batch, prefetch.

Every name is imported on first use: ``import reader`` loads neither torch nor a decoder.
"""

from typing import TYPE_CHECKING

from reader.lazy import lazy

if TYPE_CHECKING:
    from reader.cuda.prefetcher import CUDAPrefetcher as CUDAPrefetcher
    from reader.dataset.dataset import Dataset as Dataset
    from reader.dataset.mix import Mix as Mix
    from reader.errors import ArgumentError as ArgumentError
    from reader.errors import ReaderError as ReaderError
    from reader.errors import SampleError as SampleError
    from reader.errors import StoreError as StoreError
    from reader.errors import WorkerError as WorkerError
    from reader.fields.boxes import Boxes as Boxes
    from reader.fields.members import Member as Member
    from reader.fields.pictures import Bands as Bands
    from reader.fields.pictures import Mask as Mask
    from reader.fields.points import Points as Points
    from reader.fields.polygons import Polygons as Polygons
    from reader.format.errors import FormatError as FormatError
    from reader.format.errors import ShardfeedError as ShardfeedError
    from reader.format.limits import Limits as Limits
    from reader.geometry import Geometry as Geometry
    from reader.gpu_decode.images import EncodedImages as EncodedImages
    from reader.loader.collate import pad_collate as pad_collate
    from reader.loader.loader import Loader as Loader
    from reader.look.batch import show as show
    from reader.look.pixels import IMAGENET_MEAN as IMAGENET_MEAN
    from reader.look.pixels import IMAGENET_STD as IMAGENET_STD
    from reader.look.sheet import Sheet as Sheet
    from reader.monitoring.statistics import Statistics as Statistics
    from reader.order.blocks import BlockShuffle as BlockShuffle
    from reader.order.buckets import AspectBuckets as AspectBuckets
    from reader.order.samplers import ClassBalanced as ClassBalanced
    from reader.order.samplers import RepeatedAugmentation as RepeatedAugmentation
    from reader.order.samplers import Weighted as Weighted
    from reader.transforms.batches.mixing import CutMix as CutMix
    from reader.transforms.batches.mixing import MixUp as MixUp
    from reader.transforms.choices import RandomApply as RandomApply
    from reader.transforms.choices import RandomChoice as RandomChoice
    from reader.transforms.choices import RandomOrder as RandomOrder
    from reader.transforms.geometry.crops import CenterCrop as CenterCrop
    from reader.transforms.geometry.crops import RandomCrop as RandomCrop
    from reader.transforms.geometry.crops import RandomResizedCrop as RandomResizedCrop
    from reader.transforms.geometry.flips import RandomHorizontalFlip as RandomHorizontalFlip
    from reader.transforms.geometry.flips import RandomVerticalFlip as RandomVerticalFlip
    from reader.transforms.geometry.resizes import Letterbox as Letterbox
    from reader.transforms.geometry.resizes import Resize as Resize
    from reader.transforms.pixels.augmix import AugMix as AugMix
    from reader.transforms.pixels.automatic import AutoAugment as AutoAugment
    from reader.transforms.pixels.automatic import RandAugment as RandAugment
    from reader.transforms.pixels.automatic import TrivialAugmentWide as TrivialAugmentWide
    from reader.transforms.pixels.colours import ColorJitter as ColorJitter
    from reader.transforms.pixels.colours import Grayscale as Grayscale
    from reader.transforms.pixels.colours import (
        RandomChannelPermutation as RandomChannelPermutation,
    )
    from reader.transforms.pixels.colours import RandomGrayscale as RandomGrayscale
    from reader.transforms.pixels.colours import (
        RandomPhotometricDistort as RandomPhotometricDistort,
    )
    from reader.transforms.pixels.neighbours import GaussianBlur as GaussianBlur
    from reader.transforms.pixels.neighbours import RandomAdjustSharpness as RandomAdjustSharpness
    from reader.transforms.pixels.noise import GaussianNoise as GaussianNoise
    from reader.transforms.pixels.noise import RandomErasing as RandomErasing
    from reader.transforms.pixels.values import RandomAutocontrast as RandomAutocontrast
    from reader.transforms.pixels.values import RandomEqualize as RandomEqualize
    from reader.transforms.pixels.values import RandomInvert as RandomInvert
    from reader.transforms.pixels.values import RandomPosterize as RandomPosterize
    from reader.transforms.pixels.values import RandomSolarize as RandomSolarize
    from reader.transforms.transform import Transform as Transform

__version__ = "0.1.0"

__getattr__, __dir__ = lazy(
    __name__,
    {
        "reader.cuda.prefetcher": "CUDAPrefetcher",
        "reader.dataset.dataset": "Dataset",
        "reader.dataset.mix": "Mix",
        "reader.errors": "ArgumentError ReaderError SampleError StoreError WorkerError",
        "reader.format.errors": "FormatError ShardfeedError",
        "reader.format.limits": "Limits",
        "reader.geometry": "Geometry",
        "reader.gpu_decode.images": "EncodedImages",
        "reader.loader.collate": "pad_collate",
        "reader.loader.loader": "Loader",
        "reader.look.batch": "show",
        "reader.look.pixels": "IMAGENET_MEAN IMAGENET_STD",
        "reader.look.sheet": "Sheet",
        "reader.monitoring.statistics": "Statistics",
        "reader.order.blocks": "BlockShuffle",
        "reader.order.buckets": "AspectBuckets",
        "reader.order.samplers": "ClassBalanced RepeatedAugmentation Weighted",
        "reader.fields.boxes": "Boxes",
        "reader.fields.members": "Member",
        "reader.fields.pictures": "Bands Mask",
        "reader.fields.points": "Points",
        "reader.fields.polygons": "Polygons",
        "reader.transforms.geometry.crops": "CenterCrop RandomCrop RandomResizedCrop",
        "reader.transforms.geometry.flips": "RandomHorizontalFlip RandomVerticalFlip",
        "reader.transforms.geometry.resizes": "Letterbox Resize",
        "reader.transforms.batches.mixing": "CutMix MixUp",
        "reader.transforms.choices": "RandomApply RandomChoice RandomOrder",
        "reader.transforms.pixels.augmix": "AugMix",
        "reader.transforms.pixels.automatic": "AutoAugment RandAugment TrivialAugmentWide",
        "reader.transforms.pixels.colours": "ColorJitter Grayscale RandomChannelPermutation "
        "RandomGrayscale RandomPhotometricDistort",
        "reader.transforms.pixels.neighbours": "GaussianBlur RandomAdjustSharpness",
        "reader.transforms.pixels.noise": "GaussianNoise RandomErasing",
        "reader.transforms.pixels.values": "RandomAutocontrast RandomEqualize RandomInvert "
        "RandomPosterize RandomSolarize",
        "reader.transforms.transform": "Transform",
    },
    present=("__version__",),
    advice="reader.advice",
)

__all__ = __dir__()
