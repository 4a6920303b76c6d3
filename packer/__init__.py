"""Packs a folder of images, once and offline, into sharded WebDataset tars with indexes.

Every name is imported when it is first used: ``import packer`` loads neither numpy nor Pillow.
"""

from typing import TYPE_CHECKING

from reader import __version__ as __version__
from reader.lazy import lazy

if TYPE_CHECKING:
    from packer.api import pack
    from packer.errors import NothingToPack, PackingFailed, ProcessDied, Rejected, UnusableInput
    from packer.run.report import PackReport
    from packer.writer import Writer
    from reader.format.errors import ShardfeedError

__all__ = [
    "NothingToPack",
    "PackReport",
    "PackingFailed",
    "ProcessDied",
    "Rejected",
    "ShardfeedError",
    "UnusableInput",
    "Writer",
    "__version__",
    "pack",
]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "packer.api": "pack",
        "packer.errors": "NothingToPack PackingFailed ProcessDied Rejected UnusableInput",
        "packer.run.report": "PackReport",
        "packer.writer": "Writer",
        "reader.format.errors": "ShardfeedError",
    },
    present=("__version__",),
)
