"""The log of an unfinished run: in its destination folder, with the lock on it, and in a store.

``.packing.json`` says what is being packed, so that only the same command continues it: a line of
JSON, and a further one whenever the source was mended before the run went on. It is there from the
first byte written until dataset.json is committed, and is locked by the process that packs.

Guarantees of the one in a store: of runs that begin at one place only one goes on, unless they are
the same; another one is refused before it has written or removed anything. What is there and
belongs to no run stays, unless `overwrite` is given.

Assumption: in a store without conditional writes no two runs begin at the same moment.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packer.errors import UnusableInput, cannot_write, naming
from packer.files.atomic import remove_leavings, sync_folder, write_all
from packer.files.snapshot import Watched
from packer.progress import Progress
from packer.run.run import Run, busy, part_files
from packer.shards.shard_writer import index_name, remove_shard, remove_temporaries
from packer.storage.folder import ALL, Folder, open_lock, still_exists, try_lock
from packer.storage.store import Store
from packer.words import option
from reader.format import FormatError, Manifest, manifest, mistaken

if TYPE_CHECKING:
    from reader.store.listing import Listed

# What lies in a destination while it is packed, beside shards:
JOURNAL = mistaken.JOURNAL
KEPT_SCAN = ".packing.scan"
STALE = ".packing.rescan"  # the kept scan is not to be used any more

Note = Callable[[str], None]

_SHARD = re.compile(r"(?:(.+)/)?shard-\d{6,}\.(?:tar|safetensors)")


def ignore(sentence: str) -> None:
    """Note nothing."""


class RunLog:
    """The log in a folder, in which shards are built."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / JOURNAL
        self._storage = Folder(folder)
        self.is_asked = False  # whether a run of this process has come to hold it

    @contextmanager
    def hold(
        self, run: Run, overwrite: bool, keep: Manifest | None = None, note: Note = ignore
    ) -> Iterator[Watched]:
        """Hold the destination for one packing run, which may add to `keep`; yield its log."""
        self.is_asked = True
        with open_lock(self.path) as file:
            if not try_lock(file, ALL):
                raise busy(self.folder)
            if not still_exists(file):
                raise UnusableInput(f"{self.folder}: another packer has just finished there.")
            splits = self.begin(file, run, overwrite, keep, note)
            self.remove_temporaries(splits)
            try:
                self.claim(run, overwrite, keep, note)
                yield Watched.of(self.path)
            finally:
                with contextlib.suppress(OSError):  # the body has raised that the disk fails
                    self.remove_temporaries(splits)  # of processes that were ended

    def claim(self, run: Run, overwrite: bool, keep: Manifest | None, note: Note) -> None:
        """Claim the place to which shards go from the folder, if there is one, for a run."""

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
            is_committed = (self.folder / manifest.FILENAME).exists()
            self._remove_shards(splits, Manifest.load(self.folder) if is_committed else None)
            found = None
        if found is not None and run.continues(found):
            return splits
        if overwrite:
            for split in filter(None, _remove_dataset(self._storage, splits)):
                with contextlib.suppress(OSError):  # it does not exist, or is not empty
                    (self.folder / split).rmdir()
            sync_folder(self.folder)
        elif found is not None and run.mends(found):
            self._refuse_strangers(splits, keep, found.shards)
            if stale := self._remove_stale(found, run, keep):
                note(f"The source has changed: {stale} finished shards are packed anew.")
        elif found is not None and not (keep and found.source == keep.source):
            raise run.refusal(self.folder, found)
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
        _refuse_strangers(self._storage.name, self._storage.list([split]), [split], keep)
        with open(self.path, "rb+", buffering=0) as file:
            _append(file, replace(run, splits=[split]))

    def commit(self, content: Manifest, progress: Progress | None = None) -> None:
        """Write dataset.json: from here on there is a dataset."""
        self._storage.replace(manifest.FILENAME, content.dump().encode())
        try:
            self.remove()
            sync_folder(self.folder)
        except OSError as error:
            raise cannot_write(self.folder / manifest.FILENAME, error) from error

    def discard(self, splits: Iterable[str], keep: Manifest | None) -> None:
        """Remove what a run has written beside what is kept, and its log: it is not continued."""
        self.remove_temporaries(splits)
        self._remove_shards(splits, keep)
        self.remove()

    def forget(self, content: Manifest) -> None:
        """Remove what a crash right after the commit has left; no other command's."""
        if self.path.exists():
            with open_lock(self.path) as file:
                if try_lock(file, ALL) and still_exists(file):
                    found = read(file)
                    if found is None or found.source == content.source:
                        self.remove()

    def remove(self) -> None:
        """Remove all that a run has beside its shards, the log last."""
        scan, stale = self.folder / KEPT_SCAN, self.folder / STALE
        for path in (*part_files(self.folder), scan, stale, self.path):
            path.unlink(missing_ok=True)

    def remove_temporaries(self, splits: Iterable[str]) -> None:
        """Remove what killed processes have left, on whichever machine: no other one is at work."""
        remove_leavings([self.folder / manifest.FILENAME])
        for split in ("", *splits):
            remove_temporaries(self.folder / split)

    def _remove_shards(self, splits: Iterable[str], keep: Manifest | None) -> None:
        kept = {manifest.FILENAME, *_kept(keep)}
        for name in _dataset_names(self._storage.list({"", *splits}), splits):
            if name not in kept:
                self._storage.remove(name)

    def _refuse_strangers(
        self, splits: Iterable[str], keep: Manifest | None, tars: Iterable[str] = ()
    ) -> None:
        names = self._storage.list({"", *splits})
        _refuse_strangers(self._storage.name, names, splits, keep, tars)

    def _remove_stale(self, found: Run, run: Run, keep: Manifest | None) -> int:
        """Remove what `found` has finished and `run` would not write; return how many shards."""
        kept, count = _kept(keep), 0
        for file, digest in found.shards.items():
            if run.shards.get(file) != digest and _SHARD.fullmatch(file) and file not in kept:
                count += (self.folder / file).exists()
                remove_shard(self.folder / file)
        for split in ("", *found.splits):
            if (self.folder / split).is_dir():
                sync_folder(self.folder / split)
        return count


def logged(store: Store, listed: Collection[str]) -> Run | None:
    """Return the run that has claimed a store which lists these names."""
    text = store.read(JOURNAL) if JOURNAL in listed else None
    return None if text is None else Run.parsed(text)


def claim(
    store: Store, run: Run, overwrite: bool, keep: Manifest | None
) -> "tuple[Run, Mapping[str, Listed], bool]":
    """Begin or continue a run in a store; return it, what is listed, and whether it is new there.

    A store has neither locks nor appends: the log is an object that one run creates. A list without
    it has no shard of a run either.
    """
    listed = store.list()
    found = logged(store, listed)
    if overwrite and not (found and run.continues(found)):
        _remove_dataset(store, {*run.splits, *(found.splits if found else ())})
        store.remove(JOURNAL)
        listed, found = store.list(), None
    if found is None:
        _refuse_strangers(store.name, listed, run.splits, keep)
    elif not run.joins(found):
        raise run.refusal(store.name, found)
    text = json.dumps(asdict(found or run)).encode()
    is_written = store.create(JOURNAL, text)
    is_new = is_written and found is None
    if is_written:
        store.try_conditions(JOURNAL, text)
    listed = store.list()
    found = logged(store, listed)
    if found is None or not run.joins(found):
        raise UnusableInput(f"{store.name}: another packer has just begun or finished there.")
    if is_new:
        try:  # others may have come meanwhile
            _refuse_strangers(store.name, listed, run.splits, keep)
        except UnusableInput:
            store.remove(JOURNAL)
            raise
    return found, listed, is_new


def _append(file: Any, run: Run) -> None:
    """Write a line; the one before holds until this one is complete."""
    with naming(Path(file.name)):
        file.seek(0, os.SEEK_END)
        write_all(file.fileno(), b"\n" + json.dumps(asdict(run)).encode() + b"\n")
        os.fsync(file.fileno())
        sync_folder(Path(file.name).parent)


def read(file: Any) -> Run | None:
    """Return the run in the open log; None if nothing was begun."""
    with naming(Path(file.name)):
        file.seek(0)
        return Run.parsed(file.readall())


def _dataset_names(names: Iterable[str], splits: Iterable[str]) -> list[str]:
    """Return dataset.json, then every shard at the top and in the folders of the splits."""
    known, names = {"", *splits}, set(names)
    matches = ((name, _SHARD.fullmatch(name)) for name in sorted(names))
    shards = [name for name, match in matches if match and (match[1] or "") in known]
    return [manifest.FILENAME] * (manifest.FILENAME in names) + shards


def _refuse_strangers(
    place: str,
    names: Iterable[str],
    splits: Iterable[str],
    keep: Manifest | None,
    tars: Iterable[str] = (),
) -> None:
    """Raise if a file of a dataset among `names` is neither kept nor of the shards `tars`."""
    known = _kept(keep)
    for tar in tars:
        known |= {tar, index_name(tar)}
    stranger = next((name for name in _dataset_names(names, splits) if name not in known), None)
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


def _remove_dataset(storage: Folder | Store, splits: set[str]) -> set[str]:
    """Remove dataset.json first, so that nobody reads the half; return the splits."""
    with contextlib.suppress(FormatError, OSError):
        if (text := storage.read(manifest.FILENAME)) is not None:
            splits = splits.union(Manifest.parse(text, manifest.FILENAME).splits)
    for name in _dataset_names(storage.list({"", *splits}), splits):
        storage.remove(name)
    return splits


def _kept(keep: Manifest | None) -> set[str]:
    """Return the files of the dataset that is added to."""
    if keep is None:
        return set()
    shards = (name for shard in keep.shards for name in (shard.file, shard.index))
    return {manifest.FILENAME, *shards}
