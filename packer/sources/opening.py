"""Which source a path is: told by what lies there."""

from collections.abc import Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.options import SourceOptions
from packer.sources import Source
from packer.sources.folder import FolderSource
from packer.sources.pairs import Pairs


def open_source(src: Path, options: SourceOptions, classes: Sequence[str] | None = None) -> Source:
    """The source at `src`.

    Args:
        src: a folder, an archive or a manifest.
        options: how it is to be understood.
        classes: class names in label order, None for the source's own order.

    Raises:
        UnusableInput: it is nothing that can be packed.
    """
    if src.is_dir():
        for name, folder in options.pairs.items():
            if not (src / folder).is_dir():
                raise UnusableInput(f"--pair {name}: {src / folder} is not a folder.")
        return FolderSource.open(src, classes, Pairs(options.pairs))
    raise UnusableInput(f"{src} is neither a folder nor an archive or list that can be packed.")
