"""The state of an unfinished `pack` in its destination, and the lock on it.

``.packing.json`` says what is being packed, so that only the same command continues it: a line of
JSON, and a further one whenever the source was mended before the run went on. It is there from the
first byte written until dataset.json is committed, and is locked by the process that packs.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput, cannot_write, naming
from packer.files.atomic import remove_leavings, sync_folder, write_file
from packer.files.snapshot import Watched
from packer.files.transfer import write_all
from packer.run.part import busy, part_files
from packer.run.run import Run
from packer.shards import shard_writer
from packer.storage import lock
from packer.words import option
from reader.format import FormatError, Manifest, manifest, mistaken

# What lies in a destination while it is packed, beside shards:
JOURNAL = mistaken.JOURNAL
KEPT_SCAN = ".packing.scan"
STALE = ".packing.rescan"  # says that the kept scan is not to be used any more

_SHARD = re.compile(r"shard-\d{6,}\.(tar|safetensors)")


@contextmanager
def packing(
    folder: Path,
    run: Run,
    overwrite: bool,
    keep: Manifest | None = None,
    note: Callable[[str], None] = lambda sentence: None,
) -> Iterator[Watched]:
    """Hold the destination for one packing run; the body writes shards and calls `commit`.

    Yields the journal as it is from now on. What an interrupted run has finished stays, if it still
    is what this one would write.

    Args:
        folder: the destination.
        run: what is being packed.
        overwrite: remove what is there, unless the run is to be continued.
        keep: the dataset that is there and is added to.
        note: is told of finished shards that are not kept.

    Raises:
        UnusableInput: another process packs there, or something else is there already.
        OSError: the disk fails.
    """
    path = folder / JOURNAL
    with lock.opened(path) as file:
        if not lock.take(file, lock.ALL):
            raise busy(folder)
        if not lock.is_there(file):
            raise UnusableInput(f"{folder}: another packer has just finished there.")
        splits = begin(folder, file, run, overwrite, keep, note)
        remove_temporaries(folder, splits)
        try:
            yield Watched.of(path)
        finally:
            with contextlib.suppress(OSError):  # the disk that fails is told of by who wrote
                remove_temporaries(folder, splits)  # of processes that were ended


def begin(
    folder: Path,
    file: Any,
    run: Run,
    overwrite: bool = False,
    keep: Manifest | None = None,
    note: Callable[[str], None] = lambda sentence: None,
) -> set[str]:
    """Begin or continue `run` in the journal, whose `file` is locked for it; as `packing` does.

    Returns:
        All folders that shards may lie in.
    """
    found = read(file)
    splits = {*run.splits, *(found.splits if found else ())}
    if found is not None and found.pushed:
        committed = (folder / manifest.FILENAME).exists()
        _remove_shards(folder, splits, Manifest.load(folder) if committed else None)
        found = None
    if found is not None and run.continues(found):
        return splits
    if overwrite:
        _remove_dataset(folder, splits)
    elif found is not None and run.mends(found):
        _refuse_strangers(folder, _ours(folder, splits), keep, found.shards)
        if stale := _remove_stale(folder, found, run, keep):
            note(f"The source has changed: {stale} finished shards are packed anew.")
    elif found is not None and not (keep and found.source == keep.source):
        raise not_this(folder, found, run)
    else:
        try:
            _refuse_strangers(folder, _ours(folder, splits), keep)
        except UnusableInput:
            remove_state(folder)
            raise
    _append(file, run)
    return splits


def _append(file: Any, run: Run) -> None:
    """Write a line; the one before holds until this one is whole."""
    with naming(Path(file.name)):
        file.seek(0, os.SEEK_END)
        write_all(file.fileno(), b"\n" + json.dumps(asdict(run)).encode() + b"\n")
        os.fsync(file.fileno())
        sync_folder(Path(file.name).parent)


def add_split(folder: Path, run: Run, split: str, keep: Manifest | None) -> None:
    """Add a split to a run of a loop that this process holds, before its first shard is written.

    Args:
        folder: the destination.
        run: as it began.
        split: its name.
        keep: the dataset that is added to.

    Raises:
        UnusableInput: its folder holds shards already.
        OSError: the disk fails.
    """
    _refuse_strangers(folder, _shards_in([folder / split]), keep)
    with open(folder / JOURNAL, "rb+", buffering=0) as file:
        _append(file, replace(run, splits=[split]))


def discard(folder: Path, splits: Iterable[str], keep: Manifest | None) -> None:
    """Remove what a run has written, and its journal: it will not be continued."""
    remove_temporaries(folder, splits)
    _remove_shards(folder, splits, keep)
    remove_state(folder)


def _remove_shards(folder: Path, splits: Iterable[str], keep: Manifest | None) -> None:
    """Remove the shards in `folder` and in the folders of the splits that are not kept."""
    kept = {folder / manifest.FILENAME, *_kept(folder, keep)}
    for path in _ours(folder, splits):
        if path not in kept:
            path.unlink()


def not_this(folder: Path | str, found: Run, run: Run) -> UnusableInput:
    """The error for a destination in which `run` cannot continue what is `found`."""
    return UnusableInput(
        f"{folder} holds an unfinished run {run.difference(found)}, or give "
        f"{option('overwrite', True)} to discard all shards there and begin anew."
    )


def commit(folder: Path, content: Manifest) -> None:
    """Write dataset.json: from here on there is a dataset.

    Raises:
        PackingFailed: it cannot be written.
    """
    path = folder / manifest.FILENAME
    write_file(path, content.dump().encode())
    try:
        remove_state(folder)
        sync_folder(folder)
    except OSError as error:
        raise cannot_write(path, error) from error


def remove_state(folder: Path) -> None:
    """Remove all that a run has beside its shards, the journal last."""
    kept = [folder / name for name in (KEPT_SCAN, STALE)]
    for path in (*part_files(folder), *kept, folder / JOURNAL):
        path.unlink(missing_ok=True)


def forget(folder: Path, source: str) -> None:
    """Remove the journal that a crash right after the commit of `source` has left.

    That of another command, which is at work or is to be continued, stays.
    """
    if (folder / JOURNAL).exists():
        with lock.opened(folder / JOURNAL) as file:
            if lock.take(file, lock.ALL) and lock.is_there(file):
                found = read(file)
                if found is None or found.source == source:
                    remove_state(folder)


def read(file: Any) -> Run | None:
    """What the open journal says; None if nothing was begun."""
    with naming(Path(file.name)):
        file.seek(0)
        return parsed(file.readall())


def parsed(text: bytes) -> Run | None:
    """Return the run in the last whole line of a journal, None if not even the first is whole.

    Each further line of a run whose samples a loop pushes has one more split; it has all of them.
    """
    found: Run | None = None
    splits: set[str] = set()
    for line in reversed(text.splitlines()):
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            run = Run(**json.loads(line))
            names = (*run.splits, *dict(run.shards))  # by which files are removed
            dicts = isinstance(run.shards, dict) and isinstance(run.settings, dict)
            if dicts and all(map(manifest.is_inside, names)):
                if not run.pushed:
                    return found or run
                found = found or run
                splits.update(run.splits)
    return found and replace(found, splits=sorted(splits))


def _ours(folder: Path, splits: Iterable[str]) -> list[Path]:
    """dataset.json, then every shard in `folder` and in the folders of the splits."""
    committed = [path for path in [folder / manifest.FILENAME] if path.exists()]
    return committed + _shards_in(folder / name for name in sorted({"", *splits}))


def _shards_in(folders: Iterable[Path]) -> list[Path]:
    """Return the tars and indexes in these folders, those that are there."""
    return [
        inside / name
        for inside in folders
        if inside.is_dir()
        for name in sorted(filter(_SHARD.fullmatch, os.listdir(inside)))
        if (inside / name).exists()
    ]


def _refuse_strangers(
    folder: Path, found: Sequence[Path], keep: Manifest | None, ours: Iterable[str] = ()
) -> None:
    """Raise if one of the files `found` is neither kept nor of the tars `ours`."""
    known = _kept(folder, keep)
    for tar in ours:
        known |= {folder / tar, shard_writer.index_of(folder / tar)}
    if stranger := next((path for path in found if path not in known), None):
        if stranger.name == manifest.FILENAME:
            raise UnusableInput(
                f"{folder} already holds a dataset (dataset.json). Give {option('append', True)} "
                f"to add to it, {option('overwrite', True)} to replace it, or choose another "
                "destination."
            )
        raise UnusableInput(
            f"{folder} already holds {stranger.relative_to(folder)}, which this run did not "
            f"write. Choose another destination, or give {option('overwrite', True)} to replace "
            "the dataset there."
        )


def _remove_stale(folder: Path, found: Run, run: Run, keep: Manifest | None) -> int:
    """Remove what `found` has finished and `run` would write otherwise, or not at all; how many."""
    kept, count = _kept(folder, keep), 0
    for file, digest in found.shards.items():
        path = folder / file
        if run.shards.get(file) != digest and _SHARD.fullmatch(path.name) and path not in kept:
            count += path.exists()
            shard_writer.remove_shard(path)
    for split in ("", *found.splits):
        if (folder / split).is_dir():
            sync_folder(folder / split)
    return count


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


def remove_temporaries(folder: Path, splits: Iterable[str]) -> None:
    """Remove what killed processes have left, on whichever machine: nobody else is at work."""
    remove_leavings([folder / manifest.FILENAME])
    for split in ("", *splits):
        shard_writer.remove_temporaries(folder / split)
