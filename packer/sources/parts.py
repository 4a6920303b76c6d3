"""A dataset whose splits lie apart: ``train.tar`` beside ``val.tar``, or folders of tars."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from packer.sources.archive.webdataset import is_index
from packer.sources.folder.layout import SPLITS
from packer.sources.records import Content, Skipped, Source, SourceSample

_ARCHIVES = (".tar", ".zip")


def split_parts(folder: Path) -> dict[str, Path]:
    """The archives and folders in `folder`, by split; empty if they are not named as splits are."""
    names = [name for name in sorted(os.listdir(folder)) if not is_index(name)]
    parts = {_without_extension(name): folder / name for name in names}
    return parts if len(parts) == len(names) and SPLITS.issuperset(parts) else {}


def _without_extension(name: str) -> str:
    return name[:-4] if name.endswith(_ARCHIVES) else name


@dataclass(frozen=True)
class PartsSource:
    """A source for each split, with the classes of all.

    Attributes:
        parts: (split, source), with the same classes in all sources that have labels by name.
        classes: class names in label order.
    """

    parts: tuple[tuple[str, Source], ...]
    classes: tuple[str, ...]

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """One split after the other; names and keys begin with the split's."""
        for split, source in self.parts:
            for record in source.scan():
                name = f"{split}/{record.name}"
                if isinstance(record, Skipped):
                    yield replace(record, name=name)
                else:
                    yield replace(record, name=name, key=f"{split}/{record.key}", split=split)

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """As the source of the sample's split has them."""
        files = dict(self.parts)[sample.split].member_files(_inside(sample))
        return [f"{sample.split}/{file}" for file in files]

    def read(self, sample: SourceSample) -> Content:
        """What the source of the sample's split has for it."""
        return dict(self.parts)[sample.split].read(_inside(sample))


def _inside(sample: SourceSample) -> SourceSample:
    """The sample as the source of its split knows it."""
    prefix = f"{sample.split}/"
    name, key = sample.name.removeprefix(prefix), sample.key.removeprefix(prefix)
    return replace(sample, name=name, key=key)
