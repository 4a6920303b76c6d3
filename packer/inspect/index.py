"""`packer index`: makes a dataset of unchanged WebDataset tars, in one pass over each.

Memory: some 250 bytes a sample beside its key and name, and the largest image.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from packer import __version__
from packer.errors import UnusableInput
from packer.files.atomic import remove_leavings, write_file
from packer.inspect.tar_index import index_tar
from packer.keys import KeySet, escape, hashes_of, repeated_rows, unescape
from packer.processes import map_unordered
from packer.progress import QUIET, Advance, Progress
from packer.shards.joined import write_manifest
from packer.shards.shard_writer import Written, index_of
from packer.sources.trees.tar_reader import Member, members
from packer.words import option, typed
from reader.format import FormatError, Index, Limits, Manifest, manifest, tar
from reader.format.columns import list_column
from reader.format.safetensors import serialize

_BEGUN = ".indexing"  # there until dataset.json is: the indexes are those of an earlier call


@dataclass
class IndexReport:
    dataset: str
    samples: int = 0
    classes: int = 0
    shards: int = 0
    bytes: int = 0
    renamed: int = 0  # samples whose key another tar has too; theirs begins with the tar's name now
    seconds: float = 0.0
    rejected: list[tuple[str, str]] = field(default_factory=list)  # tar and member, reason


def index(
    folder: Path,
    jobs: int,
    progress: Progress = QUIET,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> IndexReport:
    """Write an index beside each tar below `folder`, and dataset.json into it.

    A tar's folder, relative to `folder`, is its split. A second call starts again.
    """
    began, tars = time.monotonic(), _tars(folder)
    _refuse_strangers(folder, tars)
    report = IndexReport(str(folder), shards=len(tars))
    damaged: list[str] = []
    written = {index_of(folder / name) for name in tars}
    names = {manifest.FILENAME, manifest.JOINED, *(path.name for path in written)}
    folders = {folder, *(path.parent for path in written)}
    remove_leavings(folders, names.__contains__)
    write_file(folder / _BEGUN, b"")
    try:
        with progress.phase("index", None, "samples") as advance:
            work = partial(_index_one, folder, limits)
            for name, rejected, error in map_unordered(work, tars, jobs, advance, str):
                report.rejected += [(f"{name}: {member}", why) for member, why in rejected]
                damaged += [error] if error else []
    finally:
        remove_leavings(folders, names.__contains__)  # of processes that were ended
    if damaged:
        raise UnusableInput("\n".join(["Nothing was committed:", *sorted(damaged)]))
    report.renamed = _make_keys_unique(folder, tars)
    found = Written()
    for name in tars:
        found.add(Written.of(folder / name, split=name.rpartition("/")[0]))
    report.rejected.sort()
    report.samples = sum(entry.samples for entry in found.entries.values())
    report.classes = max(found.labels, default=-1) + 1
    report.bytes = sum(entry.bytes for entry in found.entries.values())
    if not report.samples:
        raise UnusableInput(
            f"{folder}: no tar has a sample with an image. Images need a name "
            "with an extension, such as 000.jpg."
        )
    content = Manifest(
        packer=__version__,
        options={},
        source="",
        classes=tuple(map(str, range(report.classes))),
        fields=tuple(sorted(found.fields)),
        shards=tuple(found.entries.values()),
        rejected=len(report.rejected),
        dropped=dict(sorted(found.dropped.items())),
        sizes=dict(sorted(found.sizes.items())),
    )
    write_manifest(folder, content)
    (folder / _BEGUN).unlink()
    report.seconds = time.monotonic() - began
    return report


def _tars(folder: Path) -> list[str]:
    def fail(error: OSError) -> None:
        raise error

    found = sorted(
        path.relative_to(folder).as_posix()
        for parent, _, names in os.walk(folder, onerror=fail)  # what is not listed may hold tars
        for path in (Path(parent, name) for name in names)
        if path.suffix == ".tar" and path.is_file() and not path.name.startswith(".")
    )
    if odd := [name for name in found if manifest.CONTROL.search(name)]:
        raise UnusableInput(
            f"{folder} has a tar with control characters in its name. Rename it: {odd[0]!r}."
        )
    if not found:
        raise UnusableInput(
            f"{folder} has no .tar file. Decompress .tar.gz files first: gunzip FILE.tar.gz"
        )
    return found


def _refuse_strangers(folder: Path, tars: Sequence[str]) -> None:
    external = is_lost = not (folder / manifest.FILENAME).exists()
    with suppress(FormatError):
        external = external or Manifest.load(folder).external
    if not external:
        raise UnusableInput(
            f"{folder} is already a dataset, or has a {manifest.FILENAME} of another program. "
            "To index its tars again, remove that file."
        )
    indexed = [folder / name for name in tars if index_of(folder / name).exists()]
    for path in map(index_of, indexed):
        try:
            Index(path, mapped=False)
        except FormatError:
            raise UnusableInput(
                f"{path} is not an index, and would be overwritten. Move it to another folder."
            ) from None
    is_ours = (folder / _BEGUN).exists()
    if indexed and is_lost and not is_ours and _is_packed(indexed[0]):
        raise UnusableInput(
            f"{folder} was packed by `{typed('pack')}`, and has lost its {manifest.FILENAME}. New "
            "indexes would lose the class names and the tiles. Restore the file from a copy, or "
            "pack the source again with the same options and ",
            option("overwrite", True),
            ". Otherwise, to index the tars as those of another tool, remove the .safetensors "
            "files.",
        )


def _is_packed(path: Path) -> bool:
    """Whether a tar begins as `packer pack` begins one, to the byte."""
    first = next((item for item in members(path) if isinstance(item, Member)), None)
    if first is None:
        return False
    with path.open("rb") as file:
        return file.read(first.offset) == tar.header(first.name, first.size)


def _index_one(
    folder: Path, limits: Limits, name: str, advance: Advance
) -> tuple[str, list[tuple[str, str]], str | None]:
    try:
        content, skipped = index_tar(folder / name, limits, advance)
        write_file(index_of(folder / name), content)
    except UnusableInput as error:
        return name, [], str(error)
    return name, skipped, None


def _make_keys_unique(folder: Path, tars: Sequence[str]) -> int:
    """Put the tar's name before a key that a tar before it has too; how many there were."""
    hashes = [hashes_of(Index(index_of(folder / n), mapped=False).values_of("key")) for n in tars]
    taken, seen, renamed = KeySet(hashes), set[bytes](), 0
    for name, rows in zip(tars, repeated_rows(hashes), strict=True):
        if not rows:
            continue
        index = Index(index_of(folder / name), mapped=False)
        keys = index.values_of("key")
        later = [row for row in rows if keys[row] in seen]
        seen.update(keys[row] for row in rows)
        prefix = name.removesuffix(".tar")
        for row in later:
            stem = unescape(keys[row].decode())
            while not taken.add(key := escape(stem := f"{prefix}/{stem}")):
                continue
            keys[row] = key.encode()
        if later:
            columns = {**index.columns, **list_column("key", keys)}
            write_file(index.path, serialize(columns, index.metadata))
            renamed += len(later)
    return renamed
