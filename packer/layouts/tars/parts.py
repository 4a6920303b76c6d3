"""A dataset whose splits lie apart: ``train.tar`` beside ``val.tar``, or folders of tars."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from packer.layouts.tars.source import is_index
from packer.samples.labels import Encodings
from packer.samples.places import Files, places_of
from packer.samples.records import Facts, Place, Skipped, Source, SourceSample
from packer.trees.meaning import SPLITS
from packer.trees.shape import inside
from packer.trees.walk import look, with_parents

_ARCHIVES = (".tar", ".zip")


def split_parts(folder: Path) -> dict[str, Path]:
    """The archives and folders in `folder`, by split; empty if they are not named as splits are.

    Folders that are passed over, such as hidden ones, are none of them.
    """
    found = look(str(folder), with_parents(folder))
    names = sorted(name for name in (*found.folders, *found.files) if not is_index(name))
    parts = {_without_extension(name): folder / name for name in names}
    return parts if len(parts) == len(names) and SPLITS.issuperset(parts) else {}


def _without_extension(name: str) -> str:
    return name[:-4] if name.endswith(_ARCHIVES) else name


@dataclass(frozen=True)
class PartsSource:
    """A source for each split, with the classes of all."""

    folder: Path  # in which the parts lie
    parts: tuple[tuple[str, Source], ...]  # by split; all with the same classes by name
    classes: tuple[str, ...]  # class names in label order
    boxes: Encodings = field(default_factory=dict)  # how the members hold boxes

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """One split after the other; names and keys begin with the split's."""
        for split, source in self.parts:
            assert isinstance(source.files, Files), "it lies on the disk"
            prefix = os.path.relpath(source.files.root, self.folder)
            for record in source.scan():
                if isinstance(record, Skipped):
                    yield replace(record, name=f"{split}/{record.name}")
                else:
                    yield _moved(record, split, "" if prefix == "." else prefix)

    @property
    def facts(self) -> Facts:
        """What its parts say of labels that they lack."""
        return Facts(unlabelled=self._unlabelled, boxes=self.boxes)

    def _unlabelled(self) -> Iterator[str]:
        for _, part in self.parts:
            yield from part.facts.unlabelled()

    @property
    def files(self) -> Files:
        """What reads the samples."""
        return Files(self.folder)


def _moved(sample: SourceSample, split: str, prefix: str) -> SourceSample:
    """Return the sample of a part whose files lie at `prefix` in the folder of all parts."""
    places: list[Place] = []
    for place in sample.places if prefix == split else places_of(sample):
        if isinstance(place, str) or (place is None and prefix != split):
            place = inside(prefix, place or sample.name)
        elif place is not None and isinstance(place[0], str):
            place = [inside(prefix, place[0]), *place[1:]]
        places.append(place)
    name, key = f"{split}/{sample.name}", f"{split}/{sample.key}"
    return replace(sample, name=name, key=key, split=split, places=places)
