"""The splits of tars: from a list beside them, or by their names.

timm lists shards in ``_info.json``, Energon in ``.nv-meta/split.yaml``; other files beside tars
only count what these hold.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from packer.errors import UnusableInput
from packer.files.names import expanded
from packer.sources.trees.names import SPLITS, splits_of

_ENERGON = ".nv-meta/split.yaml"
_TIMM = ("_info.json", "info.json")
_MAX_BYTES = 1 << 24  # of such a list


def splits_of_tars(folder: Path, tars: Sequence[str]) -> dict[str, str]:
    """Return the split of each tar by its name; empty if there are none."""
    if found := _listed(folder):
        if missing := [name for name in tars if name not in found]:
            raise UnusableInput(
                f"{folder}: the list of splits beside the tars lacks {missing[0]}. Correct the "
                "list, or move it to another folder."
            )
        return {name: found[name] for name in tars}
    series = {name: re.sub(r"[-_.]?\d+(-of-\d+)?$", "", name.removesuffix(".tar")) for name in tars}
    splits = splits_of(sorted(set(series.values())))
    others = [name for name, stem in series.items() if stem not in splits]
    if not SPLITS.intersection(splits.values()):
        return {}
    if others:
        raise UnusableInput(
            f"{folder}: some tars have names of splits ({', '.join(sorted(splits))}), and "
            f"{others[0]} does not. Rename it, or move it to another folder."
        )
    return {name: splits[stem] for name, stem in series.items()}


def _listed(folder: Path) -> dict[str, str]:
    for path in (folder / _ENERGON, folder.parent / _ENERGON, *(folder / name for name in _TIMM)):
        try:
            with path.open("rb") as file:
                text = file.read(_MAX_BYTES).decode()
        except (OSError, UnicodeDecodeError):
            continue
        if parts := _parts(text):
            return {
                name.rpartition("/")[2]: split
                for split, patterns in parts.items()
                for pattern in patterns
                for name in expanded(pattern)
            }
    return {}


def _parts(text: str) -> Mapping[str, list[str]]:
    try:
        is_json = text.lstrip().startswith("{")
        content = json.loads(text) if is_json else yaml.load(text, yaml.BaseLoader)
    except (ValueError, yaml.YAMLError, RecursionError):
        return {}
    splits = content.get("split_parts", content.get("splits")) if type(content) is dict else None
    found = {}
    for split, listed in splits.items() if type(splits) is dict else ():
        names: Any = listed.get("filenames") if type(listed) is dict else listed
        if type(names) is list and all(type(name) is str for name in names):
            found[split] = names
    return found
