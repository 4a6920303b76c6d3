"""The state of an unfinished `pack` in its destination, and the lock on it.

``.packing.json`` says what is being packed, so that only the same command continues it. It is
there from the first byte written until dataset.json is committed, and is locked by the process
that packs.
"""

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput, cannot_write
from packer.shard_writer import remove_temporaries, sync_folder
from reader.format import Manifest, manifest

FILENAME = ".packing.json"

_SHARD = re.compile(r"shard-\d{6,}\.(tar|safetensors)")


@contextmanager
def packing(folder: Path, identity: Mapping[str, Any], overwrite: bool) -> Iterator[None]:
    """Hold the destination for one packing run; the body writes shards and calls `commit`.

    Raises:
        UnusableInput: another process packs there, or something else is there already.
    """
    path = folder / FILENAME
    try:
        folder.mkdir(parents=True, exist_ok=True)
        journal = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise UnusableInput(f"{folder} cannot be written to: {error.strerror}.") from error
    with journal as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UnusableInput(f"{folder}: another packer is at work there.") from None
        if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
            raise UnusableInput(f"{folder}: another packer has just finished there.")
        file.seek(0)
        text = file.read()
        if _parse(text) != identity:
            _begin(folder, path, text, overwrite)
            file.truncate(0)
            file.write(json.dumps(identity))
            file.flush()
            os.fsync(file.fileno())
            sync_folder(folder)
        remove_temporaries(folder)
        try:
            yield
        finally:
            remove_temporaries(folder)  # of processes that were ended


def _begin(folder: Path, path: Path, text: str, overwrite: bool) -> None:
    """Make way for a run that is not the one that `text` tells of."""
    if overwrite:
        _remove_data_set(folder)
    elif _parse(text) is not None:
        raise UnusableInput(
            f"{folder} holds an unfinished run with other options or another source. Repeat "
            "that command to finish it, or give --overwrite to discard it and begin anew."
        )
    else:
        try:
            _refuse_strangers(folder)
        except UnusableInput:
            path.unlink()
            raise


def commit(folder: Path, content: Manifest) -> None:
    """Write dataset.json: from here on there is a data set.

    Raises:
        PackingFailed: it cannot be written.
    """
    temporary = folder / f".{manifest.FILENAME}.tmp-{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(content.dump())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, folder / manifest.FILENAME)
        (folder / FILENAME).unlink()
        sync_folder(folder)
    except OSError as error:
        raise cannot_write(folder / manifest.FILENAME, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None  # cut short by a crash before any shard was begun


def _ours(folder: Path) -> list[Path]:
    shards = sorted(path for path in folder.iterdir() if _SHARD.fullmatch(path.name))
    return [path for path in (folder / manifest.FILENAME, *shards) if path.exists()]


def _refuse_strangers(folder: Path) -> None:
    if found := _ours(folder):
        raise UnusableInput(
            f"{folder} already holds {found[0].name}, which this command did not write. "
            "Choose another destination, or give --overwrite to replace the data set there."
        )


def _remove_data_set(folder: Path) -> None:
    """dataset.json goes first: what is half removed is no data set."""
    for path in _ours(folder):
        path.unlink()
    sync_folder(folder)
