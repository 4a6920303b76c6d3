"""What lies where a dataset was looked for, in words: most who miss one gave a place beside it."""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

JOURNAL = ".packing.json"  # lies in a folder as long as `packer pack` has not finished it
_FEW = 16  # entries of a folder that are looked at: it may have ten million
_LOOKED_AT = 256  # files, of all folders
_DEPTH = 2  # images/SPLIT/CLASS


def why_no_dataset(folder: Path, manifest: str) -> str:
    """Return why there is no file `manifest` in `folder`, which is no split's, and what to do."""
    from reader.format.members import picture_format  # brings numpy, where few miss a dataset

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
            which = "give that folder" if len(datasets) == 1 else "give one of these"
            return f"{folder} is not a dataset, but holds {', '.join(datasets)}: {which}."
    kinds = {Path(name).suffix[1:].lower() for name in islice(_files(folder, _DEPTH), _LOOKED_AT)}
    place = shlex.quote(str(folder))
    if "tar" in kinds:
        return (
            f"{folder} is not a dataset: it has no {manifest}. "
            f"`packer index {place}` makes a dataset of the tars in it."
        )
    if any(map(picture_format, kinds)):
        return (
            f"{folder} is not a dataset: it holds images. "
            f"`packer pack {place} SHARDS` makes a dataset of them, in the new folder SHARDS."
        )
    return f"{folder} is not a dataset: it has no {manifest}. `packer pack` makes datasets."


def _why_no_folder(place: Path, manifest: str) -> str:
    if not place.exists():
        return f"There is no folder {place}."
    parents = place.absolute().parents
    whole = next((parent for parent in parents if (parent / manifest).is_file()), None)
    if whole is None:
        return f"{place} is a file, and a dataset is a folder."
    return f"{place} is a file of a dataset: give the folder, {whole}."


def _files(folder: str | Path, depth: int) -> Iterator[str]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in islice(entries, _FEW):
            if not entry.is_dir():
                yield entry.name
            elif depth:
                yield from _files(entry.path, depth - 1)
