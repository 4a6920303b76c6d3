"""A dataset in a store: built in a folder of this machine, uploaded shard by shard.

Purpose: what a `Destination` is for a folder, for a store.

Guarantees: beside those of `StoreLock` and `Store`, a shard that is there whole is neither packed
nor uploaded anew, also where the folder was lost; dataset.json is written when the store lists all
that it names; then nothing else is left in the store and in the folder. A tar whose index is in the
folder, and which is not, is in the store.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import xxhash

from packer.errors import PackingFailed, UnusableInput
from packer.files.snapshot import Watched
from packer.plan.work import Work
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.log import Note
from packer.run.part import Part
from packer.run.run import Run
from packer.run.store_lock import StoreLock
from packer.shards.shard_writer import index_name, index_of
from packer.shards.written import Written
from packer.storage.store import AT_ONCE, Store, access, failed
from packer.words import Placeholder, option
from reader.errors import StoreError
from reader.format import FormatError, Index, Manifest, manifest
from reader.store.urls import checked, is_url

_WRITABLE = ("s3://", "gs://", "az://", "file://")
_TOLD_TO = 10**9  # ns: stores tell whole seconds
_INDEXES = 64  # fetched at a time
_WITHOUT_CONDITIONS = (
    "packer: {} takes no conditional writes. Each name is looked for before it is written, so "
    "nothing is replaced; but let no other packer write there at the same time."
)


class StoreDestination(Destination):
    """The place below a URL; a context manager around all that is asked of it."""

    holds_all = False

    def __init__(self, url: str, scratch: Path, store: Store) -> None:
        """Ask nothing of the store yet; the folder is made in `scratch`."""
        name = f"{url.rpartition('/')[2]}-{xxhash.xxh64_hexdigest(url.encode())[:8]}"
        super().__init__(Path(os.path.realpath(scratch)) / name)
        self.name = url
        self._store = store
        self._stack = ExitStack()
        self._lock = StoreLock(store)
        self._tag: str | None = None  # of the dataset.json that is added to
        self._is_base = self._is_begun = False

    def __enter__(self) -> "StoreDestination":
        self._stack.enter_context(self._store)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._is_base and not self._is_begun:  # it was refused
            self._forget_base()
            if isinstance(error, UnusableInput):
                error.args = (str(error).replace(str(self.folder), self.name),)
        self._stack.close()

    def _forget_base(self) -> None:
        """Leave nothing of it in the folder, unless an unfinished run goes on with it."""
        if not self.log.path.exists():
            splits: tuple[str, ...] = ()
            with suppress(FormatError):
                splits = Manifest.load(self.folder).splits
            self._discard(splits)

    @cached_property
    def committed(self) -> Path | None:
        """Return a copy of what is there, without tars."""
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="shardfeed-")))
        return folder if self._fetch(folder) else None

    def base(self) -> Path:
        """Return a copy of what is there, without tars, in the folder until it is committed."""
        self._is_base = True
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self._fetch(self.folder):
            raise self._nothing_to_add_to()
        self._tag = self._lock.there[manifest.FILENAME].tag
        for shard in Manifest.load(self.folder).shards:
            (self.folder / shard.file).unlink()  # which only stands for the one in the store
        return self.folder

    def _fetch(self, folder: Path) -> bool:
        """Fetch dataset.json and the indexes, with their times; whether there is a dataset."""
        there = self._lock.look()
        if manifest.FILENAME not in there:
            return False
        self._store.fetch_dataset(folder)
        for name, listed in there.items():
            if manifest.is_inside(name) and (folder / name).exists():
                written = listed.mtime_ns + _TOLD_TO
                os.utime(folder / name, ns=(written, written))
        return True

    @property
    def is_done(self) -> bool:
        """Whether there is a dataset."""
        return self.committed is not None

    @contextmanager
    def hold(
        self, run: Run, overwrite: bool, keep: Manifest | None, note: Note
    ) -> Iterator[Watched]:
        """Hold the folder, and say in the store what is packed there."""
        self._is_begun = True
        with super().hold(run, overwrite, keep, note) as watched:
            self._begin(run, overwrite, keep, note)
            yield watched

    @contextmanager
    def share(
        self, part: Part, asked: Run, scan: Callable[[], Work], note: Note
    ) -> Iterator[tuple[Work, Watched]]:
        """Do the same for a part: others may write theirs from elsewhere."""
        with super().share(part, asked, scan, note) as (work, watched):
            self._begin(asked.of(work), False, None, note)
            yield work, watched

    def _begin(self, run: Run, overwrite: bool, keep: Manifest | None, note: Note) -> None:
        try:
            self._lock.begin(run, overwrite, keep)
        except UnusableInput:
            if not any(self.folder.rglob("shard-*")):
                self._discard(run.splits)
            raise
        if not self._store.heeds_conditions:
            note(_WITHOUT_CONDITIONS.format(self.name))

    def finished(self, paths: Sequence[Path]) -> set[Path]:
        """Those here, and those in the store, whose indexes are brought where they are missing."""
        found = {path for path in paths if self._is_here(path)}
        away = [
            path for path in paths if path not in found and self._file(path) in self._lock.trusted
        ]
        for at in range(0, len(away), _INDEXES):
            some = away[at : at + _INDEXES]
            contents = self._store.read_all(index_name(self._file(path)) for path in some)
            for path, content in zip(some, contents, strict=True):
                if self._keep_index(path, content):
                    found.add(path)
        return found

    def _is_here(self, path: Path) -> bool:
        return index_of(path).exists() and (path.exists() or self._lock.has(self._file(path)))

    def _keep_index(self, path: Path, content: bytes) -> bool:
        """Keep the index of a shard in the store here; False if it is not of that tar."""
        path.parent.mkdir(exist_ok=True)
        index = index_of(path)
        index.write_bytes(content)
        with suppress(FormatError):
            if Index(index, mapped=False).tar_bytes == self._lock.there[self._file(path)].size:
                return True
        index.unlink()
        return False

    def missing(self, paths: Sequence[Path]) -> int:
        """Return how many are neither here nor, as the store has them now, there."""
        self._lock.look()
        return sum(not (self._is_here(p) or self._lock.has(self._file(p))) for p in paths)

    def at_a_time(self, shards: Sequence[int], processes: int) -> Sequence[int]:
        """Return those that processes write or have just written, and those under way."""
        return shards[: 2 * processes + AT_ONCE + 1]

    def take(self, shard: Written) -> None:
        """Begin to upload it; waits where too many are under way."""
        [entry] = shard.entries.values()
        there = self._lock.there
        tar = self.folder / entry.file
        if not entry.samples or not tar.exists():
            return  # the dataset may have no use for it; or it is there
        sizes = {entry.file: entry.bytes, entry.index: entry.index_bytes}
        if entry.file in self._lock.trusted and all(
            there[name].size == size for name, size in sizes.items()
        ):
            tar.unlink()
        else:
            self._store.upload(entry, self.folder)

    def wait(self, progress: Progress) -> None:
        """Wait until all that was taken is in the store."""
        left = self._store.under_way
        if not left:
            return
        with progress.phase("upload", left, "shards") as advance:
            while left:
                now = self._store.settle()
                advance(left - now)
                left = now

    def commit(self, content: Manifest, progress: Progress) -> None:
        """Write dataset.json when the store lists all shards; then nothing is left but these."""
        text = content.dump().encode()
        try:
            for shard in content.shards:
                if (self.folder / shard.file).exists():  # it was not taken
                    self._store.upload(shard, self.folder)
            self.wait(progress)
            self._check(content)
            if not self._store.replace(manifest.FILENAME, text, self._tag):
                raise UnusableInput(
                    f"{self.name} has been replaced or added to by another packer meanwhile. "
                    "Pack again."
                )
        except StoreError as error:
            raise failed(error) from error
        with suppress(StoreError):  # else the same command does it
            self._lock.release()
        self._discard(content.splits)

    def discard(self, splits: Iterable[str], keep: Manifest | None) -> None:
        """Remove what was written in the folder, and what this very process has in the store."""
        self._store.cancel()
        super().discard(splits, keep)
        if keep is not None:
            self._discard(keep.splits)
        with suppress(StoreError):
            for name in self._store.created:
                self._store.remove(name)
            if self._lock.is_new:
                self._lock.release()

    def _check(self, content: Manifest) -> None:
        there = self._lock.look()
        for shard in content.shards:
            for name, size in ((shard.file, shard.bytes), (shard.index, shard.index_bytes)):
                if name not in there or there[name].size != size:
                    raise PackingFailed(
                        f"{self.name}/{name} is not in the store any more as it was uploaded. "
                        "Pack again to go on."
                    )

    def forget(self, content: Manifest) -> None:
        """Remove what a crash right after the commit has left in the store and in the folder."""
        self._lock.forget(content.source)
        if self.folder.exists():
            self.log.forget(content.source)
            if not self.log.path.exists():
                self._discard(content.splits)

    def _discard(self, splits: Iterable[str]) -> None:
        """Leave nothing in the folder that was made for this dataset."""
        with suppress(OSError):
            self.log.discard(splits, None)
            (self.folder / manifest.FILENAME).unlink(missing_ok=True)
            for split in filter(None, splits):
                (self.folder / split).rmdir()
            self.folder.rmdir()

    def _file(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()


@contextmanager
def destination(
    place: Path | str,
    scratch: Path | None = None,
    options: Mapping[str, Any] | None = None,
    provider: Any = None,
) -> Iterator[Destination]:
    """Yield the destination that `place` names: a folder, or the URL of a dataset.

    Args:
        place: a path or a URL.
        scratch: where shards are built before they are uploaded.
        options: of the store, by obstore's names.
        provider: of credentials, as obstore's are.
    """
    if not is_url(place):
        if scratch is not None:
            raise UnusableInput(
                f"{option('scratch')} is for what goes into a store, or comes from one."
            )
        yield Destination(Path(os.path.realpath(place)))
        return
    url = checked(str(place))
    if not url.startswith(_WRITABLE):
        raise UnusableInput(
            f"{url}: datasets are written to s3://, gs://, az:// and file://. Pack into a folder, "
            "and upload that."
        )
    if scratch is None:
        raise UnusableInput(
            f"{url}: give {option('scratch', Placeholder('DIR'))}, a folder in which shards are "
            "built before they are uploaded. It takes some shards at a time; the same one again "
            "continues best."
        )
    store = Store(url, *access(url, options, provider))
    with StoreDestination(url, scratch, store) as found:
        yield found
