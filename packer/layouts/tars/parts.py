"""A dataset whose splits lie apart: ``train.tar`` beside ``val.tar``, or folders of tars."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packer.layouts.tars.source import is_index
from packer.samples.objects import Encodings
from packer.samples.records import Content, Facts, Reader, Skipped, Source, SourceSample
from packer.trees.meaning import SPLITS
from packer.trees.walk import look, with_parents

_ARCHIVES = (".tar", ".zip")


def split_parts(folder: Path) -> dict[str, Path]:
    """The archives and folders in `folder`, by split; empty if they are not named as splits are.

    Folders that are passed over, such as hidden ones, are none of them.
    """
    inside = look(str(folder), with_parents(folder))
    names = sorted(name for name in (*inside.folders, *inside.files) if not is_index(name))
    parts = {_without_extension(name): folder / name for name in names}
    return parts if len(parts) == len(names) and SPLITS.issuperset(parts) else {}


def _without_extension(name: str) -> str:
    return name[:-4] if name.endswith(_ARCHIVES) else name


@dataclass(frozen=True)
class PartsSource:
    """A source for each split, with the classes of all."""

    # (split, source), with the same classes in all sources that have labels by name
    parts: tuple[tuple[str, Source], ...]
    classes: tuple[str, ...]  # class names in label order
    boxes: Encodings = field(default_factory=dict)  # how the members hold boxes

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """One split after the other; names and keys begin with the split's."""
        for split, source in self.parts:
            for record in source.scan():
                name = f"{split}/{record.name}"
                if isinstance(record, Skipped):
                    yield replace(record, name=name)
                else:
                    yield replace(record, name=name, key=f"{split}/{record.key}", split=split)

    @property
    def facts(self) -> Facts:
        """What its parts say of labels that they lack."""
        return Facts(unlabelled=self._unlabelled, boxes=self.boxes)

    def _unlabelled(self) -> Iterator[str]:
        for _, part in self.parts:
            yield from part.facts.unlabelled()

    @property
    def files(self) -> "PartFiles":
        """What reads the samples."""
        return PartFiles({split: source.files for split, source in self.parts})


@dataclass(frozen=True)
class PartFiles:
    """What reads the samples of each split."""

    parts: Mapping[str, Reader]

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """Return those of the sample's split, below it."""
        split, inside = _inside(sample)
        return [f"{split}/{file}" for file in self.parts[split].member_files(inside)]

    def read(self, sample: SourceSample) -> Content:
        """Return what the sample's split has for it."""
        split, inside = _inside(sample)
        return self.parts[split].read(inside)


def _inside(sample: SourceSample) -> tuple[str, SourceSample]:
    """The part that a sample comes from, and the sample as that knows it."""
    split, _, name = sample.name.partition("/")
    return split, replace(sample, name=name, key=sample.key.removeprefix(f"{split}/"))
