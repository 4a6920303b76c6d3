"""`packer index`: makes a dataset of WebDataset tars that lie there, without touching them."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from packer import __version__
from packer.errors import UnusableInput
from packer.files.atomic import remove_leavings, write_file
from packer.inspect.rows import index_tar
from packer.keys import escape, hashes_of, repeated, unescape
from packer.processes import map_unordered
from packer.progress import Advance, Progress
from packer.shards.shard_writer import index_of, shard_entry
from reader.format import FORMATS, FormatError, Index, Limits, Manifest, ShardEntry, manifest
from reader.format.index import serialize


@dataclass
class IndexReport:
    """What became of the tars' members.

    Attributes:
        rejected: (tar and member, reason) of what is not a part of a sample.
        renamed: samples whose key another tar has too; theirs begins with the tar's name now.
    """

    dataset: str
    samples: int = 0
    classes: int = 0
    shards: int = 0
    bytes: int = 0
    renamed: int = 0
    seconds: float = 0.0
    rejected: list[tuple[str, str]] = field(default_factory=list)


def index(
    folder: Path,
    jobs: int,
    progress: Progress | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> IndexReport:
    """Write an index beside each tar below `folder`, and dataset.json into it.

    A tar's folder, relative to `folder`, is its split. Doing it again begins anew.

    Raises:
        UnusableInput: there is no tar, one is damaged (all are named), or a packed dataset or
            somebody else's file is where an index goes.
        PackingFailed: an index cannot be written.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    tars = _tars(folder)
    _refuse_strangers(folder, tars)
    report = IndexReport(str(folder), shards=len(tars))
    damaged: list[str] = []
    written = [index_of(folder / name) for name in tars]
    remove_leavings([folder / manifest.FILENAME, *written])
    try:
        with progress.phase("index", None, "samples") as advance:
            work = partial(_index_one, folder, limits)
            done = map_unordered(work, tars, min(jobs, len(tars)), advance, str)
            for name, rejected, error in done:
                report.rejected += [(f"{name}: {member}", why) for member, why in rejected]
                damaged += [error] if error else []
    finally:
        remove_leavings(written)  # of processes that were ended
    if damaged:
        raise UnusableInput("\n".join(["Nothing was committed:", *sorted(damaged)]))
    report.renamed = _make_keys_unique(folder, tars)
    entries = [_entry(folder, name) for name in tars]
    classes, fields = _classes_and_fields(folder, entries)
    report.rejected.sort()
    report.samples = sum(entry.samples for entry in entries)
    report.classes = len(classes)
    report.bytes = sum(entry.bytes for entry in entries)
    if not report.samples:
        raise UnusableInput(f"{folder}: its tars hold no image that is part of a sample.")
    content = Manifest(
        packer=__version__,
        options={},
        source="",
        classes=classes,
        fields=fields,
        shards=tuple(entries),
        rejected=len(report.rejected),
    )
    write_file(folder / manifest.FILENAME, content.dump().encode())
    report.seconds = time.monotonic() - began
    return report


def _tars(folder: Path) -> list[str]:
    def fail(error: OSError) -> None:
        raise error  # a folder that cannot be listed may hold tars

    found = sorted(
        path.relative_to(folder).as_posix()
        for parent, _, names in os.walk(folder, onerror=fail)
        for path in (Path(parent, name) for name in names)
        if path.suffix == ".tar" and path.is_file() and not path.name.startswith(".")
    )
    if odd := [name for name in found if manifest.CONTROL.search(name)]:
        raise UnusableInput(f"{folder} has a tar whose name has control characters: {odd[0]!r}.")
    if not found:
        raise UnusableInput(
            f"{folder} holds no .tar file. Compressed tars are to be unpacked first: samples are "
            "read from any place in them."
        )
    return found


def _refuse_strangers(folder: Path, tars: Sequence[str]) -> None:
    """What is to be written is not there, or was written by an earlier run."""
    if (folder / manifest.FILENAME).exists():
        try:
            external = Manifest.load(folder).external
        except FormatError:
            external = False
        if not external:
            raise UnusableInput(
                f"{folder} already is a dataset, or holds a {manifest.FILENAME} of something "
                "else. Remove that file to index the tars anew."
            )
    for name in tars:
        path = index_of(folder / name)
        if path.exists():
            try:
                Index(path, mapped=False)
            except FormatError:
                raise UnusableInput(
                    f"{path} is not an index, and would be overwritten. Move it elsewhere."
                ) from None


def _index_one(
    folder: Path, limits: Limits, name: str, advance: Advance
) -> tuple[str, list[tuple[str, str]], str | None]:
    """Index one tar: its name, what was skipped, and why all of it cannot be used."""
    try:
        content, skipped = index_tar(folder / name, limits, advance)
        write_file(index_of(folder / name), content)
    except UnusableInput as error:
        return name, [], str(error)
    return name, skipped, None


def _make_keys_unique(folder: Path, tars: Sequence[str]) -> int:
    """Put the tar's name before a key that a tar before it has too; how many there were."""
    hashes = [
        hashes_of(Index(index_of(folder / name), mapped=False).values_of("key")) for name in tars
    ]
    again = repeated(hashes)
    seen: set[bytes] = set()
    renamed = 0
    for name, found in zip(tars, hashes, strict=True):
        rows = np.flatnonzero(np.isin(found, again)).tolist()
        if not rows:
            continue
        opened = Index(index_of(folder / name), mapped=False)
        keys = opened.values_of("key")
        later = [row for row in rows if keys[row] in seen]
        seen.update(keys[row] for row in rows)
        prefix = name.removesuffix(".tar")
        for row in later:
            keys[row] = escape(f"{prefix}/{unescape(keys[row].decode())}").encode()
        if later:
            columns = dict(opened.columns)
            columns["key"] = np.frombuffer(b"".join(keys), "u1")
            columns["key_offset"] = np.cumsum([0, *map(len, keys)]).astype("<u8")
            write_file(opened.path, serialize(columns, opened.metadata))
            renamed += len(later)
    return renamed


def _entry(folder: Path, name: str) -> ShardEntry:
    split = PurePosixPath(name).parent.as_posix()
    return replace(shard_entry(folder / name), file=name, split="" if split == "." else split)


def _classes_and_fields(
    folder: Path, entries: Sequence[ShardEntry]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Numbers for classes, which have no names in tars, and the extensions of all members."""
    highest = -1
    fields: set[str] = set()
    for entry in entries:
        opened = Index(folder / entry.index, mapped=False)
        highest = max(highest, int(opened.columns["label"].max(initial=-1)))
        fields.update(opened.members)
        fields.update(FORMATS[int(code)] for code in np.unique(opened.columns["format"]))
    return tuple(map(str, range(highest + 1))), tuple(sorted(fields))
