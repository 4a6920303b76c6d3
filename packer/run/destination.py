"""A folder of this machine in which a dataset is written; `uploads` has one in a store."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput, cannot_write
from packer.files.atomic import remove_leavings, sync_folder
from packer.files.snapshot import Watched
from packer.plan.names import SHARD
from packer.progress import QUIET, Progress
from packer.run import log
from packer.run.run import Run, busy, part_files
from packer.shards.joined import write_manifest
from packer.shards.shard_writer import Written, is_finished, remove_shard
from packer.storage.dataset import Finished
from packer.storage.folder import ALL, Folder, open_lock, still_exists, try_lock
from packer.words import Message, are, many, option
from reader.format import FormatError, Manifest, manifest

# What is in a destination while it is packed, beside shards and the log:
KEPT_SCAN = ".packing.scan"
STALE = ".packing.rescan"  # the kept scan is not to be used any more


class Destination:
    """A folder of this machine, with the log of the run that is at work in it."""

    holds_all = True  # the folder has room for all shards, which stay in it

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.name = str(self.folder)  # for a person
        self.path = self.folder / log.JOURNAL
        self._files = Folder(self.folder)

    @property
    def committed(self) -> Finished | None:
        is_there = (self.folder / manifest.FILENAME).exists()
        return Finished(self.folder, self.folder) if is_there else None

    @property
    def is_done(self) -> bool:
        return self.committed is not None and not self.path.exists()

    def base(self) -> Finished:
        if (found := self.committed) is None:
            text = f"{self.name} has no dataset to add to. Remove ", option("append", True)
            raise FormatError(Message(*text, " to create one, or to continue an interrupted run."))
        return found

    @contextmanager
    def hold(
        self, run: Run, overwrite: bool, keep: Manifest | None = None, note: log.Note = QUIET.note
    ) -> Iterator[Watched]:
        """Hold the destination for one packing run, which may add to `keep`; yield its log."""
        with open_lock(self.path) as file:
            if not try_lock(file, ALL):
                raise busy(self.folder)
            if not still_exists(file):
                raise UnusableInput(
                    f"{self.folder}: another packer has just finished in this "
                    "folder. Run the same command again."
                )
            splits = self.begin(file, run, overwrite, keep, note)
            self.remove_temporaries(splits)
            try:
                self.claim(run, overwrite, keep, note)
                yield Watched.of(self.path)
            finally:
                with suppress(OSError):  # the body has raised that the disk fails
                    self.remove_temporaries(splits)  # of processes that were ended

    def claim(self, run: Run, overwrite: bool, keep: Manifest | None, note: log.Note) -> None:
        """Claim the place to which shards go from the folder, if there is one, for a run."""

    def begin(
        self,
        file: Any,
        run: Run,
        overwrite: bool = False,
        keep: Manifest | None = None,
        note: log.Note = QUIET.note,
    ) -> set[str]:
        """Begin or continue `run` in the log, whose `file` is locked; return all splits."""
        found = log.read(file)
        splits = {*run.splits, *(found.splits if found else ())}
        if found is not None and not overwrite and (found.pushed or found.replaces):
            is_there = (self.folder / manifest.FILENAME).exists()
            if not (is_there and found.replaces):  # else nothing has been removed yet
                self._remove_shards(splits, Manifest.load(self.folder) if is_there else None)
            found = None
        if found is not None and run.continues(found):
            return splits
        if overwrite:
            log.append(file, removal := log.removal_of(self._files, run, found))
            splits.update(removal.splits)
            log.remove_files(self._files, splits)
            for split in filter(None, splits):
                with suppress(OSError):  # it does not exist, or is not empty
                    (self.folder / split).rmdir()
            sync_folder(self.folder)
        elif found is not None and run.mends(found):
            log.refuse_strangers(self._files, splits, keep, found.shards)
            if stale := self._remove_stale(found, run, keep):
                shards = f"{many(stale, 'finished shard')} {are(stale)}"
                note(f"The source has changed: {shards} packed again.")
        elif found is not None and not (keep and found.source == keep.source):
            raise run.refusal(self.folder, found)
        else:
            try:
                log.refuse_strangers(self._files, splits, keep)
            except UnusableInput:
                self.remove()
                raise
        log.append(file, run)
        return splits

    def add_split(self, run: Run, split: str, keep: Manifest | None) -> None:
        log.refuse_strangers(self._files, [split], keep, names=self._files.list([split]))
        with open(self.path, "rb+", buffering=0) as file:
            log.append(file, replace(run, splits=[split]))

    def finished(self, paths: Sequence[Path]) -> set[Path]:
        """Return those tars that need not be written; the index of each is in the folder."""
        return {path for path in paths if is_finished(path)}

    def missing(self, paths: Sequence[Path]) -> int:
        return sum(not is_finished(path) for path in paths)

    def at_a_time(self, shards: Sequence[int], processes: int) -> Sequence[int]:
        return shards

    def take(self, shard: Written) -> None:
        """Take a finished shard, which will not be written otherwise."""

    def wait(self, progress: Progress) -> None:
        """Wait until all that was taken is where it belongs."""

    def commit(self, content: Manifest, progress: Progress = QUIET) -> None:
        """Write dataset.json: from here on there is a dataset."""
        write_manifest(self.folder, content)
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
                    found = log.read(file)
                    if found is None or found.source == content.source:
                        self.remove()

    def remove(self) -> None:
        scan, stale = self.folder / KEPT_SCAN, self.folder / STALE
        for path in (*part_files(self.folder), scan, stale, self.path):
            path.unlink(missing_ok=True)

    def remove_temporaries(self, splits: Iterable[str]) -> None:
        """Remove what killed processes have left, on whichever machine: no other one is at work."""
        remove_leavings((self.folder / split for split in ("", *splits)), log.is_in_dataset)

    def _remove_shards(self, splits: Iterable[str], keep: Manifest | None) -> None:
        log.remove_files(self._files, splits, {manifest.FILENAME, *log.kept_files(keep)})

    def _remove_stale(self, found: Run, run: Run, keep: Manifest | None) -> int:
        """Remove what `found` has finished and `run` would not write; return how many shards."""
        kept, count = log.kept_files(keep), 0
        for file, digest in found.shards.items():
            if run.shards.get(file) != digest and SHARD.fullmatch(file) and file not in kept:
                count += (self.folder / file).exists()
                remove_shard(self.folder / file)
        for split in ("", *found.splits):
            if (self.folder / split).is_dir():
                sync_folder(self.folder / split)
        return count
