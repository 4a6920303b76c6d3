"""WebDataset tars: a sample is a run of members whose names share all up to the first dot.

The rules are webdataset's (`tariterators.group_by_keys`), but where `dots` finds the last dot to
end the keys. The image is the first member with an image's extension, one without a further dot
before others; ``cls`` is the label.
"""

import contextlib
import os
import re
from array import array
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.files.snapshot import read_span, unchanged
from packer.keys import KeySet, escape, key_hash, unescape
from packer.options.declared import SourceOptions
from packer.samples.labels import Encodings, class_number
from packer.samples.places import Files
from packer.samples.records import Facts, Sample, Skipped
from packer.sources.scanners.rows.source import RowSource
from packer.sources.scanners.tars.dots import is_doubtful, keys_end_at_last_dot, runs_of
from packer.sources.scanners.tars.labelled import labelled
from packer.sources.scanners.tars.splits import splits_of_tars
from packer.sources.trees.find import is_index, split_parts
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.shape import inside
from packer.sources.trees.sidecars import EXTENSION
from packer.sources.trees.tar_reader import Member, holds_samples, image_of, members, samples
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import TABLES, is_litter, not_entered
from packer.words import Placeholder, command, listed, option, typed
from reader.format import FormatError, Index, Manifest, manifest

_REPEATS = (*TABLES, ".txt")
MAX_NAMES = 100_000  # of classes, where cls holds names
MAX_CLASS_NAME = 1000  # bytes
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?")
_LOOKED_AT = 8  # samples that tell what a tar is


@dataclass(frozen=True)
class WebDatasetSource:
    """A tar, a folder of them, or tars or such a folder for each split, or folders of tars."""

    folder: Path
    tars: tuple[str, ...]  # those that are meant, relative to it
    tree: Tree | None = None  # the folder, where all in it are meant
    classes: tuple[str, ...] = ()  # empty where labels are only numbers
    splits: Mapping[str, str] = field(default_factory=dict)  # of each tar, such as train-000.tar
    parts: Mapping[str, str] = field(default_factory=dict)  # the same, where names begin with it
    boxes: Encodings = field(default_factory=dict)
    dotted: frozenset[str] = frozenset()  # tars whose keys have dots and end at the last one

    @classmethod
    def recognises(cls, path: Path, tree: Tree | None = None) -> bool:
        """Whether a tar, or the first of a folder's, holds samples of several members, or of one.

        The latter only if tars are numbered: others may be classes. Class folders have no ``cls``.
        """
        tars = [path]
        if path.is_dir():
            tree = tree or FolderTree(path)
            tars = [path / name for name in _tars(tree)]
            if not tars or _are_numbered(tars):
                return bool(tars)
        if holds_samples(tars[0]):
            return True
        if path.is_dir():
            raise UnusableInput(
                f"{path} has tars that are not numbered shards of one series, and the files of "
                f"{tars[0].name} are images of one member each, or lie in folders of classes. ",
                *(["To pack one of them: "] if tars[1:] else ["To pack it: "]),
                command(tars[0]),
                f"\nIf each tar is a class, put them into one tar: tar -cf classes.tar -C {path} ."
                if tars[1:]
                else "",
                "\nIf members of one sample lie apart, read the tars where they are: ",
                typed("index", path),
            )
        return False

    @classmethod
    def open(
        cls,
        path: Path,
        tree: Tree | None,
        options: SourceOptions,
        classes: Sequence[str] | None = None,
    ) -> "WebDatasetSource | RowSource":
        """Return the tar at `path`, or those in it; what packer wrote has its classes beside it.

        `tree` is that of a folder, where some of its files are ignored, and tables may be.
        """
        if path.is_dir():
            tree = tree or FolderTree(path)
            known, boxes = packed(path)
            folders = split_parts(tree)
            parts = {tar: split for split in folders for tar in _tars(tree, folders[split])}
            tars = tuple(parts) or _tars(tree) or tars_below(tree)
            splits = parts or splits_of_tars(path, tars)
            source = cls(path, tars, tree, tuple(classes or known), splits, parts, boxes)
        else:
            source = cls(path.parent, (path.name,), classes=tuple(classes or ()))
        dotted = (name for name in source.tars if keys_end_at_last_dot(source.folder / name))
        source = replace(source, dotted=frozenset(dotted))
        if not source.classes:
            found = _class_names(source.folder, source.tars, source.dotted)
            source = replace(source, classes=found)
        if tree is None:
            return source
        return labelled(source.scan(), source.facts.remarks, tree, options, classes) or source

    def scan(self) -> Iterator[Sample | Skipped]:
        """Go through the tars in the order of their names."""
        number_of = {name: number for number, name in enumerate(self.classes)}
        if self.tree is not None:
            for folder in {"": None} | dict.fromkeys(map(os.path.dirname, self.tars)):
                yield from self._beside(self.tree, folder)
        earlier = KeySet()  # of the tars before: many sets number again in each
        for tar in self.tars:
            own, part = array("Q"), self.parts.get(tar, "")
            folder = escape(os.path.basename(tar).removesuffix(".tar"))
            for record in self._tar(tar, number_of):
                if isinstance(record, Sample):
                    key = record.key
                    while inside(part, key) in earlier:
                        key = f"{folder}/{key}"
                    key = inside(part, key)
                    own.append(key_hash(key))
                    record = replace(record, key=key, split=self.splits.get(tar, ""))
                yield record
            earlier.update(own)

    @property
    def facts(self) -> Facts:
        """How the members hold boxes, if packer wrote them, and where keys have dots."""
        remark = (
            f"Keys in {listed(sorted(self.dotted), 3)} end at the last dot, because by the "
            "first dot several images would be one sample."
        )
        return Facts((remark,) if self.dotted else (), boxes=self.boxes)

    @property
    def files(self) -> Files:
        """The reader of the samples."""
        return Files(self.folder)

    def _beside(self, tree: Tree, folder: str) -> Iterator[Skipped]:
        """Yield what lies in a folder beside its tars."""
        level, tars = tree.level(folder), set(self.tars)
        for name, reason in level.skipped.items():
            yield not_entered(f"{inside(folder, name)}/", reason)
        above = {*self.parts.values(), *(tar.split("/")[0] for tar in self.tars)}
        for name in level.folders:
            if name not in above:
                yield Skipped(f"{inside(folder, name)}/", "it is a folder beside the tars")
        for path in (inside(folder, name) for name in tree.names(folder)):
            stem, ext = os.path.splitext(path)
            if path in tars:
                continue
            if is_index(path):
                yield Skipped(path, "it is an index", ignored=True)
            elif ext in _REPEATS and f"{stem}.tar" in tars:
                reason = f"{os.path.basename(stem)}.tar has the same content"
                yield Skipped(path, reason, ignored=True)
            else:
                yield tree.ignored(path) or Skipped(path, "it is not a tar")

    def _tar(self, tar: str, number_of: Mapping[str, int]) -> Iterator[Sample | Skipped]:
        mtime_ns = os.stat(self.folder / tar).st_mtime_ns
        path, is_known = self.folder / tar, tar in self.dotted
        where = inside(self.parts.get(tar, os.path.dirname(tar)), os.path.basename(tar))
        for run in samples(members(path), by_last_dot=is_known):
            if isinstance(run, Skipped):
                yield replace(run, name=f"{where}/{run.name}")
                continue
            if not is_known and is_doubtful(run):
                if keys_end_at_last_dot(path, None):
                    raise UnusableInput(
                        f"{path}: keys have dots from {run[0].name} on, and none before. Move "
                        "the samples without dots in their keys to another tar."
                    )
                is_known = True
            image = image_of(run)
            try:
                if image is None:
                    lacks = "its sample has no image; the members of a sample follow each other"
                    raise BadImage(lacks)
                if not image.size:
                    raise Damaged("its image is empty")
                label = self._label(tar, mtime_ns, run, number_of)
            except BadImage as error:
                yield from (Skipped.of(f"{where}/{member.name}", error) for member in run)
                continue
            kept = [image]
            for member in run:
                if member is image or member.ext == "cls":
                    continue
                if EXTENSION.fullmatch(member.ext):
                    kept.append(member)
                else:
                    reason = "its extension has characters other than letters, digits, - and _"
                    yield Skipped(f"{where}/{member.name}", reason)
            yield Sample(
                name=f"{where}/{image.name}",
                key=_key(image.stem),
                label=label,
                size=sum(member.size for member in kept),
                mtime_ns=mtime_ns,
                members=tuple(member.ext for member in kept[1:]),
                places=[[tar, member.offset, member.size] for member in kept],
            )

    def _label(
        self, tar: str, mtime_ns: int, run: Sequence[Member], number_of: Mapping[str, int]
    ) -> int:
        member = next((member for member in run if member.ext == "cls"), None)
        if member is None:
            return -1
        if (size := member.size) > MAX_CLASS_NAME:
            raise BadImage(f"its .cls has {size} bytes, too many for a class ({MAX_CLASS_NAME})")
        with unchanged(self.folder / tar, mtime_ns) as descriptor:
            data = read_span(descriptor, member.offset, member.size)
        name = _text(data)
        if not name.isascii() or not name.isdigit():
            if name in number_of:
                return number_of[name]
            raise BadImage(
                f"its .cls is {name!r}: for classes by name, pass ",
                option("classes", Placeholder("FILE")),
                " with all names",
            )
        number = class_number(data)
        if self.classes and number >= len(self.classes):
            raise BadImage(f"its class is {number}, and there are {len(self.classes)} classes")
        return number


def packed(folder: Path) -> tuple[tuple[str, ...], Encodings]:
    """The classes of a dataset that packer wrote, and how it holds boxes; empty if another's."""
    with contextlib.suppress(FormatError):
        if (folder / manifest.FILENAME).exists():
            content = Manifest.load(folder)
            _refuse_lost_frames(folder, content)
            return content.classes, content.boxes
    return (), {}


def _refuse_lost_frames(folder: Path, content: Manifest) -> None:
    """Refuse coordinates in pixels of larger images, which only the dataset's indexes tell."""
    if all(one.normalized for one in content.boxes.values()):
        return
    for shard in content.shards:
        with contextlib.suppress(FormatError, OSError):
            index = Index((folder / shard.file).with_suffix(".safetensors"), mapped=False)
            if np.any(index.columns.get("source_height", 0)):
                raise UnusableInput(
                    f"{folder} is a dataset whose images were resized or turned when they were "
                    "packed. Its boxes count the pixels of the images before that, and would not "
                    "fit in a new dataset. Pack its source instead, with the options that you want."
                )


def _tars(tree: Tree, path: str = "") -> tuple[str, ...]:
    """The tars in a folder, or the one at the path."""
    paths = [path] if tree.has(path) else [inside(path, name) for name in tree.names(path)]
    return tuple(
        one for one in paths if one.endswith(".tar") and not is_litter(os.path.basename(one))
    )


def tars_below(tree: Tree) -> tuple[str, ...]:
    """The tars in all folders."""
    return tuple(tar for folder, _ in tree.walk() for tar in _tars(tree, folder))


def _class_names(folder: Path, tars: Sequence[str], dotted: Container[str]) -> tuple[str, ...]:
    names: set[str] = set()
    looked_at = 0
    for tar in tars:
        path = folder / tar
        with unchanged(path, os.stat(path).st_mtime_ns) as descriptor:
            for run in runs_of(path, by_last_dot=tar in dotted):
                looked_at += 1
                for member in run:
                    if member.ext == "cls" and 0 < member.size <= MAX_CLASS_NAME:
                        names.add(_text(read_span(descriptor, member.offset, member.size)))
                if looked_at >= _LOOKED_AT and (not _are_names(names) or len(names) > MAX_NAMES):
                    return ()
    return tuple(sorted(names)) if _are_names(names) else ()


def _are_names(texts: Iterable[str]) -> bool:
    return not any(not text or "\ufffd" in text or _NUMBER.fullmatch(text) for text in texts)


def _text(cls: bytes) -> str:
    return cls.strip().decode("utf-8", "replace")


def _are_numbered(tars: Sequence[Path]) -> bool:
    numbers = [int(found[1]) for tar in tars if (found := re.search(r"(\d{3,})$", tar.stem))]
    counted = [list(range(first, first + len(tars))) for first in (0, 1)]
    return sorted(numbers) in counted


def _key(stem: str) -> str:
    """Return an escaped key as it was; packer's own keys stay unchanged."""
    try:
        return stem if escape(unescape(stem)) == stem else escape(stem)
    except UnicodeEncodeError:  # bytes that are not UTF-8, which no key has
        return escape(stem)
