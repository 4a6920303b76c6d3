"""Destinations of a dataset: a folder, and a URL in a store, shard by shard.

Guarantees of a store, beside those of `claim` and `Store`: a shard that is complete there is
neither packed nor uploaded again, also where the folder was lost; dataset.json is written when the
store lists all that it names; then nothing else is left in the store and in the folder. A tar whose
index is in the folder, and which is not, is in the store.
"""

import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import xxhash

from packer.errors import PackingFailed, UnusableInput
from packer.files.atomic import write_file
from packer.progress import QUIET, Progress
from packer.run.destination import Destination
from packer.run.log import JOURNAL, Note, claim, logged
from packer.run.run import Run
from packer.shards.joined import with_joined, write_joined
from packer.shards.shard_writer import Written, index_name, index_of, is_finished
from packer.storage.dataset import Finished
from packer.storage.store import AT_ONCE, WRITABLE, Store, access, failed
from packer.words import Placeholder, option
from reader.errors import StoreError
from reader.format import FormatError, Index, Manifest, ShardEntry, manifest
from reader.store.urls import checked, is_url

if TYPE_CHECKING:
    from reader.store.transport import Listed

_RESOLUTION = 10**9  # ns: of the times that stores list
_INDEXES = 64  # fetched at a time
_WITHOUT_CONDITIONS = (
    "packer: {} does not support conditional writes. Each name is checked before it is written, so "
    "nothing is replaced. Do not run another packer for this destination at the same time."
)


@contextmanager
def destination(
    place: Path | str,
    scratch: Path | None = None,
    options: Mapping[str, Any] | None = None,
    provider: Any = None,
    *,
    src: Any = None,
) -> Iterator[Destination]:
    """Yield a folder, or the place in a store at a URL, whose shards are built in `scratch`.

    A source `src` in a store has use for `scratch`, too.
    """
    if not is_url(place):
        if scratch is not None and not is_url(src):
            raise UnusableInput(
                option("scratch"), " requires a source or a destination in a store. Remove it."
            )
        yield Destination(Path(place))
        return
    url = checked(str(place))
    if not url.startswith(WRITABLE):
        raise UnusableInput(
            f"{url}: datasets can be written to s3://, gs://, az:// and file://. Pack into a "
            "folder, and upload it."
        )
    if scratch is None:
        raise UnusableInput(
            f"{url}: give ",
            option("scratch", Placeholder("DIR")),
            ", a folder to build shards in before they are uploaded. It needs space for a few "
            "shards. Pass the same folder to continue a run.",
        )
    with Store(url, *access(url, options, provider)) as store, ExitStack() as stack:
        yield StoreDestination(url, scratch, store, stack)


class StoreDestination(Destination):
    """A destination in a store, and the scratch folder for its shards.

    The verbs of storage do not hide that a store has no locks and takes no appends: the run also
    claims the place by an object that it creates. Shards leave the folder once they are finished.
    """

    holds_all = False

    def __init__(self, url: str, scratch: Path, store: Store, stack: ExitStack) -> None:
        """Make no request yet; the folder is made in `scratch`, and what goes with the `stack`."""
        name = f"{url.rpartition('/')[2]}-{xxhash.xxh64_hexdigest(url.encode())[:8]}"
        super().__init__(scratch / name)
        self.name = url
        self._store, self._stack = store, stack
        self._listed: Mapping[str, Listed] = {}  # all objects, as of the last `_look`
        self._trusted: frozenset[str] = frozenset()  # complete tars that the run would write
        self._tag: str | None = None  # of the dataset.json that is there
        self._is_claimed = False  # by this process; no run had begun there

    @cached_property
    def committed(self) -> Finished | None:
        """Return a copy of the dataset without tars, if there is one; files have their times."""
        listed = self._look()
        if manifest.FILENAME not in listed:
            return None
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="shardfeed-")))
        self._store.fetch_dataset(folder)
        for name, item in listed.items():
            if manifest.is_inside(name) and (folder / name).exists():
                written = item.mtime_ns + _RESOLUTION
                os.utime(folder / name, ns=(written, written))
        self._tag = listed[manifest.FILENAME].tag
        return Finished(folder, self.name)

    @property
    def is_done(self) -> bool:
        return self.committed is not None

    def claim(self, run: Run, overwrite: bool, keep: Manifest | None, note: Note) -> None:
        """Log a run in the store; other parts of it may be written from elsewhere."""
        try:
            found, self._listed, self._is_claimed = claim(self._store, run, overwrite, keep)
        except UnusableInput:
            if not any(self.folder.rglob("shard-*")):
                self._empty_folder(run.splits)
            raise
        same = (file for file, digest in run.shards.items() if found.shards.get(file) == digest)
        self._trusted = frozenset(file for file in same if self._has(file))
        if not self._store.heeds_conditions:
            note(_WITHOUT_CONDITIONS.format(self.name))

    def finished(self, paths: Sequence[Path]) -> set[Path]:
        """Return those in the folder or in the store; fetch the indexes that are missing here."""
        found = {path for path in paths if is_finished(path)}
        there = [p for p in paths if p not in found and self._has(self._file(p))]
        found.update(path for path in there if self._has_index(path))
        away = [p for p in there if p not in found and self._file(p) in self._trusted]
        for at in range(0, len(away), _INDEXES):
            some = away[at : at + _INDEXES]
            contents = self._store.read_all(index_name(self._file(path)) for path in some)
            for path, content in zip(some, contents, strict=True):
                path.parent.mkdir(exist_ok=True)
                write_file(index_of(path), content)
                if self._has_index(path):
                    found.add(path)
                else:
                    index_of(path).unlink()
        return found

    def _has_index(self, path: Path) -> bool:
        with suppress(FormatError):
            index = Index(index_of(path), mapped=False)
            return index.tar_bytes == self._listed[self._file(path)].size
        return False

    def missing(self, paths: Sequence[Path]) -> int:
        self._look()
        return sum(not (is_finished(path) or self._has(self._file(path))) for path in paths)

    def at_a_time(self, shards: Sequence[int], processes: int) -> Sequence[int]:
        return shards[: 2 * processes + AT_ONCE + 1]

    def take(self, shard: Written) -> None:
        [entry] = shard.entries.values()
        tar = self.folder / entry.file
        if not entry.samples or not tar.exists():
            return  # the dataset may have no use for it; or it is in the store
        if entry.file in self._trusted and not self._lacking(entry):
            tar.unlink()
        else:
            self._store.upload(entry, self.folder)

    def wait(self, progress: Progress) -> None:
        if left := len(self._store.under_way):
            with progress.phase("upload", left, "shards") as advance:
                while self._store.under_way:
                    advance(self._store.settle())

    def commit(self, content: Manifest, progress: Progress = QUIET) -> None:
        """Write dataset.json when the store lists all shards, and remove all other objects."""
        content = with_joined(content)
        text = content.dump().encode()
        try:
            for shard in content.shards:
                if (self.folder / shard.file).exists():  # it was not taken
                    self._store.upload(shard, self.folder)
            self.wait(progress)
            self._look()
            for name in filter(None, map(self._lacking, content.shards)):
                raise PackingFailed(
                    f"{self.name}/{name} was removed from the store, or changed there. Run the "
                    "same command again to continue."
                )
            is_ours = not content.joined or self._replace_joined(content)
            if not (is_ours and self._store.replace(manifest.FILENAME, text, self._tag)):
                raise UnusableInput(
                    f"{self.name} was replaced or extended by another packer in the meantime. "
                    "Run the same command again."
                )
        except StoreError as error:
            raise failed(error) from error
        with suppress(StoreError):  # else the same command does it
            self._store.remove(JOURNAL)
        self._empty_folder(content.splits)

    def discard(self, splits: Iterable[str], keep: Manifest | None) -> None:
        """Remove what was written in the folder, and what this very process has in the store."""
        self._store.cancel()
        super().discard(splits, keep)
        with suppress(StoreError):
            for name in self._store.created:
                self._store.remove(name)
            if self._is_claimed:
                self._store.remove(JOURNAL)

    def _replace_joined(self, content: Manifest) -> bool:
        """Write the joined indexes; False if others were written in the meantime."""
        write_joined(self.folder, content, [self.committed.folder] if self.committed else [])
        with open(self.folder / manifest.JOINED, "rb") as file:
            joined = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        there = self._listed.get(manifest.JOINED)
        return self._store.replace(manifest.JOINED, joined, there.tag if there else None)

    def _lacking(self, shard: ShardEntry) -> str | None:
        """Return the file of a shard that the store has not listed with its size, if any."""
        sizes = {shard.file: shard.bytes, shard.index: shard.index_bytes}
        listed = self._listed
        wrong = (n for n, size in sizes.items() if n not in listed or listed[n].size != size)
        return next(wrong, None)

    def forget(self, content: Manifest) -> None:
        found = logged(self._store, self._look())
        if found is not None and found.source == content.source:
            self._store.remove(JOURNAL)
        if self.folder.exists():
            super().forget(content)
            if not self.path.exists():
                self._empty_folder(content.splits)

    def _empty_folder(self, splits: Iterable[str]) -> None:
        """Remove the files of this dataset, and the folder if it is empty then."""
        with suppress(OSError):
            super().discard(splits, None)
            (self.folder / manifest.FILENAME).unlink(missing_ok=True)
            for split in filter(None, splits):
                (self.folder / split).rmdir()
            self.folder.rmdir()

    def _look(self) -> "Mapping[str, Listed]":
        self._listed = self._store.list()
        return self._listed

    def _has(self, file: str) -> bool:
        """Return whether a shard was complete at the last `_look`: its index comes last."""
        return {file, index_name(file)} <= self._listed.keys()

    def _file(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()
