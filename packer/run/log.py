"""The log of an unfinished run in its destination, and the lock on it.

``.packing.json`` says what is being packed, so that only the same command continues it: a line of
JSON, and a further one whenever the source was mended before the run went on. It is there from the
first byte written until dataset.json is committed, and is locked by the process that packs.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput, cannot_write, naming
from packer.files.atomic import remove_leavings, sync_folder
from packer.files.snapshot import Watched
from packer.files.transfer import write_all
from packer.run.part import busy, part_files
from packer.run.run import Run
from packer.shards.shard_writer import index_name, remove_shard, remove_temporaries
from packer.storage import lock
from packer.storage.folder import Folder, Storage
from packer.words import option
from reader.format import FormatError, Manifest, manifest, mistaken

# What lies in a destination while it is packed, beside shards:
JOURNAL = mistaken.JOURNAL
KEPT_SCAN = ".packing.scan"
STALE = ".packing.rescan"  # says that the kept scan is not to be used any more

Note = Callable[[str], None]

_SHARD = re.compile(r"(?:(.+)/)?shard-\d{6,}\.(?:tar|safetensors)")


def ignore(sentence: str) -> None:
    """Note nothing."""


class RunLog:
    """The log in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._storage = Folder(folder)
        self.path = folder / JOURNAL

    @contextmanager
    def hold(
        self, run: Run, overwrite: bool, keep: Manifest | None = None, note: Note = ignore
    ) -> Iterator[Watched]:
        """Hold the destination for one packing run; the body writes shards and calls `commit`.

        Yields the log as it is from now on. What an interrupted run has finished stays, if it still
        is what this one would write.

        Args:
            run: what is being packed.
            overwrite: remove what is there, unless the run is to be continued.
            keep: the dataset that is there and is added to.
            note: is called with a sentence on finished shards that are not kept.
        """
        with lock.opened(self.path) as file:
            if not lock.take(file, lock.ALL):
                raise busy(self._folder)
            if not lock.is_there(file):
                raise UnusableInput(f"{self._folder}: another packer has just finished there.")
            splits = self.begin(file, run, overwrite, keep, note)
            self.remove_temporaries(splits)
            try:
                yield Watched.of(self.path)
            finally:
                with contextlib.suppress(OSError):  # who wrote names the disk that fails
                    self.remove_temporaries(splits)  # of processes that were ended

    def begin(
        self,
        file: Any,
        run: Run,
        overwrite: bool = False,
        keep: Manifest | None = None,
        note: Note = ignore,
    ) -> set[str]:
        """Begin or continue `run` in the log, whose `file` is locked; return all splits."""
        found = read(file)
        splits = {*run.splits, *(found.splits if found else ())}
        if found is not None and found.pushed:
            is_committed = (self._folder / manifest.FILENAME).exists()
            self._remove_shards(splits, Manifest.load(self._folder) if is_committed else None)
            found = None
        if found is not None and run.continues(found):
            return splits
        if overwrite:
            self._remove_dataset(splits)
        elif found is not None and run.mends(found):
            self._refuse_strangers(splits, keep, found.shards)
            if stale := self._remove_stale(found, run, keep):
                note(f"The source has changed: {stale} finished shards are packed anew.")
        elif found is not None and not (keep and found.source == keep.source):
            raise not_this(self._folder, found, run)
        else:
            try:
                self._refuse_strangers(splits, keep)
            except UnusableInput:
                self.remove()
                raise
        _append(file, run)
        return splits

    def add_split(self, run: Run, split: str, keep: Manifest | None) -> None:
        """Add a split to the run of a loop that this process holds, before its first shard."""
        found = dataset_names(self._storage.list([split]), [split])
        refuse_strangers(self._storage.name, found, keep)
        with open(self.path, "rb+", buffering=0) as file:
            _append(file, replace(run, splits=[split]))

    def commit(self, content: Manifest) -> None:
        """Write dataset.json: from here on there is a dataset."""
        self._storage.replace(manifest.FILENAME, content.dump().encode())
        try:
            self.remove()
            sync_folder(self._folder)
        except OSError as error:
            raise cannot_write(self._folder / manifest.FILENAME, error) from error

    def discard(self, splits: Iterable[str], keep: Manifest | None) -> None:
        """Remove what a run has written, and its log: it will not be continued."""
        self.remove_temporaries(splits)
        self._remove_shards(splits, keep)
        self.remove()

    def forget(self, source: str) -> None:
        """Remove the log that a crash after the commit of `source` has left; no other command's."""
        if self.path.exists():
            with lock.opened(self.path) as file:
                if lock.take(file, lock.ALL) and lock.is_there(file):
                    found = read(file)
                    if found is None or found.source == source:
                        self.remove()

    def remove(self) -> None:
        """Remove all that a run has beside its shards, the log last."""
        kept = [self._folder / name for name in (KEPT_SCAN, STALE)]
        for path in (*part_files(self._folder), *kept, self.path):
            path.unlink(missing_ok=True)

    def remove_temporaries(self, splits: Iterable[str]) -> None:
        """Remove what killed processes have left, on whichever machine: nobody else is at work."""
        remove_leavings([self._folder / manifest.FILENAME])
        for split in ("", *splits):
            remove_temporaries(self._folder / split)

    def _remove_shards(self, splits: Iterable[str], keep: Manifest | None) -> None:
        """Remove the shards at the top and in the folders of the splits that are not kept."""
        kept = {manifest.FILENAME, *_kept(keep)}
        for name in dataset_names(self._storage.list({"", *splits}), splits):
            if name not in kept:
                self._storage.remove(name)

    def _refuse_strangers(
        self, splits: Iterable[str], keep: Manifest | None, tars: Iterable[str] = ()
    ) -> None:
        found = dataset_names(self._storage.list({"", *splits}), splits)
        refuse_strangers(self._storage.name, found, keep, tars)

    def _remove_stale(self, found: Run, run: Run, keep: Manifest | None) -> int:
        """Remove what `found` has finished and `run` would not write; return how many shards."""
        kept, count = _kept(keep), 0
        for file, digest in found.shards.items():
            if run.shards.get(file) != digest and _SHARD.fullmatch(file) and file not in kept:
                count += (self._folder / file).exists()
                remove_shard(self._folder / file)
        for split in ("", *found.splits):
            if (self._folder / split).is_dir():
                sync_folder(self._folder / split)
        return count

    def _remove_dataset(self, splits: set[str]) -> None:
        for split in filter(None, remove_dataset(self._storage, splits)):
            with contextlib.suppress(OSError):  # not there, or not empty
                (self._folder / split).rmdir()
        sync_folder(self._folder)


def _append(file: Any, run: Run) -> None:
    """Write a line; the one before holds until this one is whole."""
    with naming(Path(file.name)):
        file.seek(0, os.SEEK_END)
        write_all(file.fileno(), b"\n" + json.dumps(asdict(run)).encode() + b"\n")
        os.fsync(file.fileno())
        sync_folder(Path(file.name).parent)


def not_this(place: Path | str, found: Run, run: Run) -> UnusableInput:
    """Return the error for a destination in which `run` cannot continue what is `found`."""
    return UnusableInput(
        f"{place} holds an unfinished run {run.difference(found)}, or give "
        f"{option('overwrite', True)} to discard all shards there and begin anew."
    )


def read(file: Any) -> Run | None:
    """Return what the open log says; None if nothing was begun."""
    with naming(Path(file.name)):
        file.seek(0)
        return parsed(file.readall())


def parsed(text: bytes) -> Run | None:
    """Return the run in the last whole line of a log, None if not even the first is whole.

    Each further line of a run whose samples a loop makes has one more split; it has all of them.
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


def dataset_names(names: Iterable[str], splits: Iterable[str]) -> list[str]:
    """Return dataset.json, then every shard at the top and in the folders of the splits."""
    known, names = {"", *splits}, set(names)
    matches = ((name, _SHARD.fullmatch(name)) for name in sorted(names))
    shards = [name for name, match in matches if match and (match[1] or "") in known]
    return [manifest.FILENAME] * (manifest.FILENAME in names) + shards


def refuse_strangers(
    place: str, found: Iterable[str], keep: Manifest | None, tars: Iterable[str] = ()
) -> None:
    """Raise if one of the files `found` is neither kept nor of the shards `tars`."""
    known = _kept(keep)
    for tar in tars:
        known |= {tar, index_name(tar)}
    stranger = next((name for name in found if name not in known), None)
    if stranger == manifest.FILENAME:
        raise UnusableInput(
            f"{place} already holds a dataset (dataset.json). Give {option('append', True)} to add "
            f"to it, {option('overwrite', True)} to replace it, or choose another destination."
        )
    if stranger is not None:
        raise UnusableInput(
            f"{place} already holds {stranger}, which this run did not write. Choose another "
            f"destination, or give {option('overwrite', True)} to replace the dataset there."
        )


def remove_dataset(storage: Storage, splits: set[str]) -> set[str]:
    """Remove dataset.json first, so that nobody reads the half; return the splits."""
    with contextlib.suppress(FormatError, OSError):
        if (text := storage.read(manifest.FILENAME)) is not None:
            splits = splits.union(Manifest.parse(text, manifest.FILENAME).splits)
    for name in dataset_names(storage.list({"", *splits}), splits):
        storage.remove(name)
    return splits


def _kept(keep: Manifest | None) -> set[str]:
    """Return the files of the dataset that is added to."""
    if keep is None:
        return set()
    return {
        manifest.FILENAME,
        *(name for shard in keep.shards for name in (shard.file, shard.index)),
    }
