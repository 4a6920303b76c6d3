"""Files beside WebDataset tars that tell which shard belongs to which split (pure but for reading).

timm writes ``_info.json``, Energon ``.nv-meta/split.yaml``; other files beside tars only count what
these hold.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packer.files.braces import expanded

_ENERGON = ".nv-meta/split.yaml"
_TIMM = ("_info.json", "info.json")
_MAX_BYTES = 1 << 24


def told_splits(folder: Path) -> dict[str, str]:
    """The split of each shard, by its name, as a file beside tells it; empty if none does."""
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
        content = json.loads(text)
    except ValueError:
        return _of_yaml(text)
    splits = content.get("split_parts", content.get("splits")) if type(content) is dict else None
    found = {}
    for split, told in splits.items() if type(splits) is dict else ():
        names: Any = told.get("filenames") if type(told) is dict else told
        if type(names) is list and all(type(name) is str for name in names):
            found[split] = names
    return found


def _of_yaml(text: str) -> dict[str, list[str]]:
    """``split_parts`` of what Energon writes: the splits, with a list of patterns below each."""
    found: dict[str, list[str]] = {}
    split, inside = "", False
    for line in text.splitlines():
        if not line.startswith((" ", "-")):
            inside = line.rstrip() == "split_parts:"
        elif inside and (match := re.fullmatch(r"\s+(\w+):\s*(\[\])?\s*", line)):
            split = match[1]
        elif inside and split and (match := re.fullmatch(r"\s*-\s+['\"]?(.+?)['\"]?\s*", line)):
            found.setdefault(split, []).append(match[1])
    return found
