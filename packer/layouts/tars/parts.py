"""Splits in separate files: ``train.tar`` beside ``val.tar``, folders of tars, or shard lists.

timm lists shards in ``_info.json``, Energon in ``.nv-meta/split.yaml``; other files beside tars
only count what these hold.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from packer.files.names import expanded
from packer.samples.labels import Encodings
from packer.samples.places import Files, places_of
from packer.samples.records import Facts, Place, Sample, Skipped, Source
from packer.trees.names import SPLITS
from packer.trees.shape import inside
from packer.trees.tree import Tree
from packer.trees.walk import TABLES, is_litter

_INDEXES = (".safetensors", ".idx", ".index", "_stats.json", "dataset.json", "info.json")
_TEXTS = (*TABLES, ".txt", ".md")  # beside the archives
_ENERGON = ".nv-meta/split.yaml"
_TIMM = ("_info.json", "info.json")
_MAX_BYTES = 1 << 24  # of such a list


def is_index(name: str) -> bool:
    """Return whether a file beside tars only repeats what they hold."""
    return is_litter(name) or name.endswith(_INDEXES)


def split_parts(tree: Tree) -> dict[str, Path]:
    """The archives and folders in a folder, by split; empty if they are not named as splits are."""
    files = (name for name in tree.names() if not is_index(name) and not name.endswith(_TEXTS))
    names = sorted((*tree.level().folders, *files))
    parts = {re.sub(r"\.(tar|zip)\Z", "", name): tree.root / name for name in names}
    return parts if len(parts) == len(names) and SPLITS.issuperset(parts) else {}


@dataclass(frozen=True)
class PartsSource:
    """A source for each split, with the classes of all."""

    folder: Path  # in which the parts lie
    parts: tuple[tuple[str, Source], ...]  # by split; all with the same classes by name
    classes: tuple[str, ...]  # class names in label order
    boxes: Encodings = field(default_factory=dict)  # how the members hold boxes
    beside: tuple[Skipped, ...] = ()  # files beside the parts

    def scan(self) -> Iterator[Sample | Skipped]:
        """One split after the other; names and keys begin with the split's."""
        yield from self.beside
        for split, source in self.parts:
            assert isinstance(source.files, Files), "it is a file on the disk"
            prefix = os.path.relpath(source.files.root, self.folder)
            for record in source.scan():
                if isinstance(record, Skipped):
                    yield replace(record, name=f"{split}/{record.name}")
                else:
                    yield _moved(record, split, "" if prefix == "." else prefix)

    @property
    def facts(self) -> Facts:
        """The remarks of its parts, and those on missing labels."""
        remarks = dict.fromkeys(one for _, part in self.parts for one in part.facts.remarks)
        heeds = frozenset[str]().union(*(part.facts.heeds for _, part in self.parts))
        return Facts(heeds, tuple(remarks), self._unlabelled, boxes=self.boxes)

    def _unlabelled(self) -> Iterator[str]:
        for _, part in self.parts:
            yield from part.facts.unlabelled()

    @property
    def files(self) -> Files:
        """The reader of the samples."""
        return Files(self.folder)


def _moved(sample: Sample, split: str, prefix: str) -> Sample:
    places: list[Place] = []
    for place in sample.places if prefix == split else places_of(sample):
        if isinstance(place, str) or (place is None and prefix != split):
            place = inside(prefix, place or sample.name)
        elif place is not None and isinstance(place[0], str):
            place = [inside(prefix, place[0]), *place[1:]]
        places.append(place)
    name, key = f"{split}/{sample.name}", f"{split}/{sample.key}"
    return replace(sample, name=name, key=key, split=split, places=places)


def listed_splits(folder: Path) -> dict[str, str]:
    """Return the split of each shard by its name, from a list beside them; empty without one."""
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
