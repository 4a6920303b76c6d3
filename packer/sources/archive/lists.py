"""Archives with labels in files of their own: they are refused, as only folders are so read."""

import os
import shlex
from pathlib import Path

from packer.errors import UnusableInput
from packer.sources.archive.entries import Entries
from packer.sources.folder.shape import inside
from packer.sources.folder.sidecars import group
from packer.words import option

_LISTS = frozenset({".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".xml", ".yaml", ".yml", ".data"})


def refuse_lists(path: Path, entries: Entries, zipped: bool) -> None:
    """Raise where an archive holds a file that may tell labels, and belongs to no single image."""
    for folder in entries.folders():
        for name in group(entries.files(folder)).samples:
            if os.path.splitext(name)[1].lower() in _LISTS:
                raise to_be_unpacked(path, inside(folder, name), zipped)


def to_be_unpacked(path: Path, what: str, zipped: bool) -> UnusableInput:
    """The error for an archive that holds `what`."""
    return UnusableInput(
        f"{path} holds {what}, which may tell labels of its images and is read from folders alone. "
        f"Unpack it ({unpacking(path, zipped)}) and pack the folder. If all folders are classes, "
        f"give {option('kind', 'folder')}; for the images without labels, "
        f"{option('kind', 'flat')}."
    )


def unpacking(path: Path, zipped: bool) -> str:
    """Return the command that unpacks an archive into FOLDER."""
    source = shlex.quote(str(path))
    if zipped:
        return f"python -m zipfile -e {source} FOLDER"
    return f"mkdir -p FOLDER && tar -xf {source} -C FOLDER"
