"""The splits of files with entries, by the names of files and folders (pure)."""

import re
from collections.abc import Mapping, Sequence

from packer.sources.trees.names import splits_of

_PART = re.compile(r"-\d{5}-of-\d{5}.*|[-_.]?\d+$")


def splits_of_files(files: Sequence[str]) -> Mapping[str, str]:
    """Return the split of each file: by a folder's name, otherwise by the file's; "" for none."""
    folders = sorted({name for file in files for name in file.split("/")[:-1]})
    of_folder = splits_of(folders)
    found = {}
    for file in files:
        each = [of_folder[name] for name in file.split("/")[:-1] if name in of_folder]
        found[file] = each[0] if each else ""
    if any(found.values()):
        return found
    stems = {file: _stem(file) for file in files}
    of_stem = splits_of(sorted(set(stems.values())))
    return {file: of_stem.get(stem, "") for file, stem in stems.items()}


def _stem(file: str) -> str:
    stem = file.rpartition("/")[2].partition(".")[0]
    while (shorter := _PART.sub("", stem)) not in (stem, ""):
        stem = shorter
    return stem
