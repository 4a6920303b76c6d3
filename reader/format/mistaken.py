"""Explain why a folder is not a dataset; often a nearby folder is one."""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

JOURNAL = ".packing.json"  # exists in a folder until `packer pack` has finished
_FEW = 16  # entries of a folder that are examined: it may have ten million
_LOOKED_AT = 256  # files of all folders
_DEPTH = 2  # images/SPLIT/CLASS


def why_no_dataset(folder: Path, manifest: str) -> str:
    """Return why `folder`, which is not a split, has no file `manifest`, and a remedy."""
    from reader.format.members import picture_format  # rarely used, and imports numpy

    if not folder.is_dir():
        return _why_no_folder(folder, manifest)
    if (folder / JOURNAL).exists():
        return (
            f"{folder} is not a dataset yet: it has no {manifest}. `packer pack` is still running, "
            "was interrupted, or rejected files. To finish it, run the same command again."
        )
    with suppress(OSError), os.scandir(folder) as entries:
        within = [folder / entry.name for entry in islice(entries, _FEW)]
        if datasets := sorted(str(path) for path in within if (path / manifest).is_file()):
            which = "Open that folder" if len(datasets) == 1 else "Open one of these"
            return f"{folder} is not a dataset, but contains {', '.join(datasets)}. {which}."
    kinds = {Path(name).suffix[1:].lower() for name in islice(_files(folder, _DEPTH), _LOOKED_AT)}
    place = shlex.quote(str(folder))
    if {"tar", "safetensors"} <= kinds:
        return (
            f"{folder} is not a dataset: its {manifest} is missing. Restore it from a copy, or "
            "run the `packer` command that made the dataset again, with --overwrite if it was "
            "`packer pack`."
        )
    if "tar" in kinds:
        return (
            f"{folder} is not a dataset: it has no {manifest}. To make a dataset of its tars, run "
            f"`packer index {place}`."
        )
    if any(map(picture_format, kinds)):
        return (
            f"{folder} is not a dataset: it contains images. To make a dataset of them in the new "
            f"folder SHARDS, run `packer pack {place} SHARDS`."
        )
    return (
        f"{folder} is not a dataset: it has no {manifest}. To make one, run "
        "`packer pack SOURCE SHARDS`."
    )


def _why_no_folder(place: Path, manifest: str) -> str:
    if not place.exists():
        return f"The folder {place} does not exist."
    parents = place.absolute().parents
    whole = next((parent for parent in parents if (parent / manifest).is_file()), None)
    if whole is None:
        return f"{place} is a file, but a dataset is a folder."
    return f"{place} is a file of a dataset. Open the folder {whole}."


def _files(folder: str | Path, depth: int) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _FEW):
            if not entry.is_dir():
                yield entry.name
            elif depth:
                yield from _files(entry.path, depth - 1)
