"""The state of an unfinished `pack` in its destination, and the lock on it.

``.packing.json`` says what is being packed, so that only the same command continues it: a line of
JSON, and a further one whenever the source was mended before the run went on. It is there from the
first byte written until dataset.json is committed, and is locked by the process that packs.
"""

import contextlib
import fcntl
import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from packer.errors import (
    UnusableInput,
    cannot_write,
    naming,
)
from packer.files.atomic import (
    remove_leavings,
    sync_folder,
    write_file,
)
from packer.files.snapshot import Watched
from packer.files.transfer import write_all
from packer.planning.mandate import others_than
from packer.writing.shard_writer import (
    index_of,
    remove_shard,
    remove_temporaries,
)
from reader.format import (
    FormatError,
    Manifest,
    manifest,
)

FILENAME = ".packing.json"

_SHARD = re.compile(r"shard-\d{6,}\.(tar|safetensors)")


@dataclass(frozen=True)
class Run:
    """What a packing run is to write.

    Attributes:
        settings: what shapes a shard beside its samples.
        source: fingerprint of the source.
        place: tells where the source lies, by a checksum.
        splits: the folders that shards go into.
        shards: each tar with a checksum of the samples that it is made from.
    """

    settings: Mapping[str, Any]
    source: str = ""
    place: str = ""
    splits: Sequence[str] = ()
    shards: Mapping[str, str] = field(default_factory=dict)

    def continues(self, found: "Run") -> bool:
        """Whether all that `found` has finished is what this run would write."""
        return (found.settings, found.shards) == (self.settings, self.shards)

    def mends(self, found: "Run") -> bool:
        """Whether `found` was this run, before its source was mended."""
        return (found.settings, found.place) == (self.settings, self.place)


@contextmanager
def packing(
    folder: Path, run: Run, overwrite: bool, keep: Manifest | None = None
) -> Iterator[Watched]:
    """Hold the destination for one packing run; the body writes shards and calls `commit`.

    Yields the journal as it is from now on. What an interrupted run has finished stays, if it still
    is what this one would write.

    Args:
        folder: the destination.
        run: what is being packed.
        overwrite: remove what is there, unless the run is to be continued.
        keep: the dataset that is there and is added to.

    Raises:
        UnusableInput: another process packs there, or something else is there already.
        OSError: the disk fails.
    """
    path = folder / FILENAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        journal = path.open("ab+", buffering=0)
    except OSError as error:
        raise UnusableInput(f"{folder} cannot be written to: {error.strerror}.") from error
    with journal as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnusableInput(f"{folder}: another packer is at work there.") from None
        except OSError as error:
            raise UnusableInput(f"{path} cannot be locked: {error.strerror}.") from error
        if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
            raise UnusableInput(f"{folder}: another packer has just finished there.")
        with naming(path):
            file.seek(0)
            found = _parse(file.readall())
        splits = {*run.splits, *(found.splits if found else ())}
        if found is None or not run.continues(found):
            if overwrite:
                _remove_dataset(folder, splits)
            elif found is not None and run.mends(found):
                _refuse_strangers(folder, splits, keep, found.shards)
                _remove_stale(folder, found, run, keep)
            elif found is not None and not (keep and found.source == keep.source):
                raise _not_this(folder, found, run)
            else:
                try:
                    _refuse_strangers(folder, splits, keep)
                except UnusableInput:
                    path.unlink()
                    raise
            with naming(path):
                # The line before holds until this one is whole.
                write_all(file.fileno(), b"\n" + json.dumps(asdict(run)).encode() + b"\n")
                os.fsync(file.fileno())
                sync_folder(folder)
        _remove_temporaries(folder, splits)
        try:
            yield Watched.of(path)
        finally:
            with contextlib.suppress(OSError):  # the disk that fails is told of by who wrote
                _remove_temporaries(folder, splits)  # of processes that were ended


def _not_this(folder: Path, found: Run, run: Run) -> UnusableInput:
    """The error for a destination in which `run` cannot continue what is `found`."""
    there, here = (dict(one.settings.get("versions", {})) for one in (found, run))
    reason, remedy = "with other options or of another source", "Repeat that command"
    if (others := others_than(there, here)) and found.place == run.place:
        reason = f"that was begun with other versions; {platform.node()} has {others}"
        remedy = "Install the versions that it was begun with"
    return UnusableInput(
        f"{folder} holds an unfinished run {reason}. {remedy} to finish it, or give --overwrite to "
        "discard all shards there and begin anew."
    )


def commit(folder: Path, content: Manifest) -> None:
    """Write dataset.json: from here on there is a dataset.

    Raises:
        PackingFailed: it cannot be written.
    """
    path = folder / manifest.FILENAME
    write_file(path, content.dump().encode())
    try:
        (folder / FILENAME).unlink()
        sync_folder(folder)
    except OSError as error:
        raise cannot_write(path, error) from error


def forget(folder: Path, source: str) -> None:
    """Remove the journal that a crash right after the commit of `source` has left.

    That of another command, which is at work or is to be continued, stays.
    """
    path = folder / FILENAME
    with contextlib.suppress(FileNotFoundError, BlockingIOError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        found = _parse(file.read())
        if found is None or found.source == source:
            path.unlink()


def _parse(text: bytes) -> Run | None:
    """What the last whole line of a journal says; None, if a crash cut short the first one."""
    for line in reversed(text.splitlines()):
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            run = Run(**json.loads(line))
            names = (*run.splits, *dict(run.shards))  # by which files are removed
            if isinstance(run.shards, dict) and all(map(manifest.is_inside, names)):
                return run
    return None


def _ours(folder: Path, splits: Iterable[str]) -> list[Path]:
    """dataset.json, then every shard in `folder` and in the folders of the splits."""
    folders = sorted({folder, *(folder / split for split in splits)})
    found = [path for inside in folders if inside.is_dir() for path in sorted(inside.iterdir())]
    shards = [path for path in found if _SHARD.fullmatch(path.name)]
    return [path for path in (folder / manifest.FILENAME, *shards) if path.exists()]


def _refuse_strangers(
    folder: Path, splits: Iterable[str], keep: Manifest | None, ours: Iterable[str] = ()
) -> None:
    """Raise if there is a shard or dataset.json that is neither kept nor of the tars `ours`."""
    known = _kept(folder, keep)
    for tar in ours:
        known |= {folder / tar, index_of(folder / tar)}
    if found := [path for path in _ours(folder, splits) if path not in known]:
        raise UnusableInput(
            f"{folder} already holds {found[0].relative_to(folder)}, which this command did not "
            "write. Choose another destination, or give --overwrite to replace the dataset there."
        )


def _remove_stale(folder: Path, found: Run, run: Run, keep: Manifest | None) -> None:
    """Remove what `found` has finished and `run` would write otherwise, or not at all."""
    kept = _kept(folder, keep)
    for file, digest in found.shards.items():
        path = folder / file
        if run.shards.get(file) != digest and _SHARD.fullmatch(path.name) and path not in kept:
            remove_shard(path)
    for split in ("", *found.splits):
        if (folder / split).is_dir():
            sync_folder(folder / split)


def _kept(folder: Path, keep: Manifest | None) -> set[Path]:
    """The files of the dataset that is added to."""
    if keep is None:
        return set()
    files = (file for shard in keep.shards for file in (shard.file, shard.index))
    return {folder / manifest.FILENAME, *(folder / file for file in files)}


def _remove_dataset(folder: Path, splits: set[str]) -> None:
    """dataset.json goes first: what is half removed is not a dataset."""
    with contextlib.suppress(FormatError):
        splits = splits.union(Manifest.load(folder).splits)
    for path in _ours(folder, splits):
        path.unlink()
    for split in filter(None, splits):
        with contextlib.suppress(OSError):  # not there, or not empty
            (folder / split).rmdir()
    sync_folder(folder)


def _remove_temporaries(folder: Path, splits: Iterable[str]) -> None:
    remove_leavings([folder / manifest.FILENAME])
    for split in ("", *splits):
        remove_temporaries(folder / split)
