"""The state of an unfinished `pack` in its destination, and the lock on it.

``.packing.json`` says what is being packed, so that only the same command continues it. It is
there from the first byte written until dataset.json is committed, and is locked by the process
that packs.
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
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
from packer.files.transfer import write_all
from packer.writing.shard_writer import remove_temporaries
from reader.format import (
    FormatError,
    Manifest,
    manifest,
)

FILENAME = ".packing.json"

_SHARD = re.compile(r"shard-\d{6,}\.(tar|safetensors)")


@contextmanager
def packing(
    folder: Path, identity: Mapping[str, Any], overwrite: bool, keep: Manifest | None = None
) -> Iterator[None]:
    """Hold the destination for one packing run; the body writes shards and calls `commit`.

    Args:
        folder: the destination.
        identity: what is being packed; `splits` are the folders that shards go into.
        overwrite: remove what is there.
        keep: the data set that is there and is added to.

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
        splits = {*identity.get("splits", ()), *found.get("splits", ())}
        if found != identity:
            if overwrite:
                _remove_data_set(folder, splits)
            elif found and not (keep and found.get("source") == keep.source):
                raise UnusableInput(
                    f"{folder} holds an unfinished run with other options, or of another source "
                    "or one that has changed since. Repeat that command on the source as it was to "
                    "finish it, or give --overwrite to discard all shards there and begin anew."
                )
            else:
                _refuse_strangers(folder, splits, keep, path)
            with naming(path):
                file.truncate(0)
                write_all(file.fileno(), json.dumps(identity).encode())
                os.fsync(file.fileno())
                sync_folder(folder)
        _remove_temporaries(folder, splits)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # the disk that fails is told of by who wrote
                _remove_temporaries(folder, splits)  # of processes that were ended


def commit(folder: Path, content: Manifest) -> None:
    """Write dataset.json: from here on there is a data set.

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
        if _parse(file.read()).get("source", source) == source:
            path.unlink()


def _parse(text: bytes) -> dict[str, Any]:
    """What a journal says; nothing, if a crash cut it short before any shard was begun.

    One that names splits outside the destination is none: shards are removed from their folders.
    """
    try:
        content = dict(json.loads(text))
        is_ours = all(map(manifest.is_inside, content.get("splits", ())))
        return content if is_ours else {}
    except (TypeError, ValueError, RecursionError):
        return {}


def _ours(folder: Path, splits: Iterable[str]) -> list[Path]:
    """dataset.json, then every shard in `folder` and in the folders of the splits."""
    folders = sorted({folder, *(folder / split for split in splits)})
    found = [path for inside in folders if inside.is_dir() for path in sorted(inside.iterdir())]
    shards = [path for path in found if _SHARD.fullmatch(path.name)]
    return [path for path in (folder / manifest.FILENAME, *shards) if path.exists()]


def _refuse_strangers(
    folder: Path, splits: Iterable[str], keep: Manifest | None, journal: Path
) -> None:
    kept = {folder / manifest.FILENAME} if keep else set()
    for shard in keep.shards if keep else ():
        kept |= {folder / shard.file, folder / shard.index}
    if found := [path for path in _ours(folder, splits) if path not in kept]:
        journal.unlink()
        raise UnusableInput(
            f"{folder} already holds {found[0].relative_to(folder)}, which this command did not "
            "write. Choose another destination, or give --overwrite to replace the data set there."
        )


def _remove_data_set(folder: Path, splits: set[str]) -> None:
    """dataset.json goes first: what is half removed is no data set."""
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
