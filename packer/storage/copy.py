"""A copy of objects of a store, in a folder of this machine, while something is packed from it.

Guarantees: while it is held, each file that was listed is there as it was listed, and nothing else;
what an earlier run has fetched is not fetched again; nobody changes or removes what another holds.
A process that waits for another's fetching goes on when that one dies. A file has its name once all
its bytes are on the disk, with the time of its version; they are of that one version. Files
come in their order, so what is unfinished is little, and is apart.

::

    scratch/raw-1a2b3c4d/raw/...      the files
    scratch/raw-1a2b3c4d/unfinished/  what has not come as a whole
    scratch/raw-1a2b3c4d/.lock        held by all that read; by only one while it is changed
"""

import asyncio
import fcntl
import os
import random
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from packer.errors import UnusableInput, cannot_write
from packer.storage.folder import ALL, SHARED, open_lock, still_exists, try_lock
from packer.storage.objects import mtime_ns
from packer.words import in_bytes, option
from reader.errors import StoreError

if TYPE_CHECKING:
    from packer.storage.listing import ListingStore
    from reader.store.transport import Listed

_BLOCK = 4096  # bytes that a file system gives out at a time
_TRIES = 5  # to change it, where another reads it
_PART = 4 << 20  # bytes of a request
_AT_ONCE = 64  # requests

Fetch = Callable[["Mapping[str, Listed]", Path, Path], None]  # objects, their folder, unfinished


class Copy:
    """A local copy of a URL: its files in `folder`, and all its state in `root`."""

    def __init__(self, url: str, scratch: Path) -> None:
        name = re.sub(r"[^\w.-]", "_", url.rpartition("/")[2])
        digest = xxhash.xxh3_64_hexdigest(url.encode("utf-8", "surrogatepass"))
        self._url = url
        self.root = Path(os.path.realpath(scratch)) / f"{name[:100]}-{digest[:8]}"
        self.folder = self.root / (name if name.strip(".") else "source")
        self._lock = self.root / ".lock"
        self._stack = ExitStack()

    @property
    def is_folded(self) -> bool:
        """Whether the disk does not distinguish upper and lower case."""
        with open_lock(self._lock):
            return self._lock.with_name(self._lock.name.upper()).exists()

    def hold(
        self, objects: "Mapping[str, Listed]", fetch: Fetch, note: Callable[[str], None]
    ) -> None:
        """Fetch the files that are missing, and keep all unchanged until `leave` or `remove`."""
        for tried in range(_TRIES):
            if self._taken(note) and (self._is_alone or not self._missing(objects)):
                break
            self.leave()
            time.sleep(random.uniform(0, tried))
        else:
            raise UnusableInput(
                f"{self.root} has other versions of the objects at {self._url}, and another packer "
                "uses them. Wait until it ends, or pass another ",
                option("scratch"),
                ".",
            )
        if self._is_alone:
            self._fill(objects, fetch)
            fcntl.flock(self._file, fcntl.LOCK_SH)

    def _taken(self, note: Callable[[str], None]) -> bool:
        """Take the lock, exclusively or shared; return False if the copy was removed."""
        self._file = self._stack.enter_context(open_lock(self._lock))
        self._is_alone = try_lock(self._file, ALL)
        if not self._is_alone:
            if not try_lock(self._file, SHARED):
                note(f"Waiting for another packer that fetches to {self.root}.")
            fcntl.flock(self._file, fcntl.LOCK_SH)
        return still_exists(self._file)

    def _missing(self, objects: "Mapping[str, Listed]") -> "dict[str, Listed]":
        return {name: listed for name, listed in objects.items() if not self._has(name, listed)}

    def _has(self, name: str, listed: "Listed") -> bool:
        try:
            status = os.lstat(self.folder / name)
        except OSError:
            return False
        return (status.st_size, status.st_mtime_ns) == (listed.size, mtime_ns(listed))

    def _fill(self, objects: "Mapping[str, Listed]", fetch: Fetch) -> None:
        unfinished = self.root / "unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        self._remove_others(objects)
        missing = self._missing(objects)
        try:
            for folder in (self.folder, unfinished):
                folder.mkdir(exist_ok=True)
        except OSError as error:
            raise cannot_write(self.root, error) from error
        needed = sum(-(-listed.size // _BLOCK) * _BLOCK for listed in missing.values())
        free = shutil.disk_usage(self.root).free
        if needed > free:
            raise UnusableInput(
                f"{self._url}: {in_bytes(needed)} are to be fetched, and the disk of {self.root} "
                f"has {in_bytes(free)} free. Pass a ",
                option("scratch"),
                " on a larger disk.",
            )
        if missing:
            fetch(missing, self.folder, unfinished)
        shutil.rmtree(unfinished, ignore_errors=True)

    def _remove_others(self, objects: "Mapping[str, Listed]") -> None:
        """Remove what is not as it was listed, and folders that are left empty."""
        for folder, _, files in os.walk(self.folder, topdown=False):
            for file in files:
                path = Path(folder, file)
                name = path.relative_to(self.folder).as_posix()
                if name not in objects or not self._has(name, objects[name]):
                    path.unlink()
            with suppress(OSError):
                os.rmdir(folder)

    def leave(self) -> None:
        self._stack.close()

    def remove(self) -> bool:
        """Remove the copy, unless others hold it; return whether it is gone."""
        is_alone = try_lock(self._file, ALL)
        if is_alone:
            for folder in (self.folder, self.root / "unfinished"):
                shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                self._lock.unlink()  # last: who waits for it may begin
                self.root.rmdir()
        self.leave()
        return is_alone


@dataclass
class _File:
    name: str
    listed: "Listed"
    unfinished: Path
    descriptor: int
    left: int


class Transfer:
    """A transfer of objects into a folder; `unfinished` is on the same disk."""

    def __init__(
        self, store: "ListingStore", folder: Path, unfinished: Path, advance: Callable[[int], None]
    ) -> None:
        self._store, self._folder, self._unfinished = store, folder, unfinished
        self._advance = advance
        self._open: set[int] = set()
        self._finishing: set[asyncio.Future[None]] = set()  # threads: no cancelling ends them

    async def run(self, objects: "Mapping[str, Listed]") -> None:
        parts = self._parts(objects)
        tasks = [asyncio.create_task(self._work(parts)) for _ in range(_AT_ONCE)]
        try:
            await asyncio.gather(*tasks)
        except OSError as error:
            raise cannot_write(self._unfinished, error) from error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*self._finishing, return_exceptions=True)
            for descriptor in self._open:
                os.close(descriptor)

    def _parts(self, objects: "Mapping[str, Listed]") -> Iterator[tuple[_File, int, int]]:
        for number, (name, listed) in enumerate(objects.items()):
            self._store.expect(name, listed)
            path = self._unfinished / str(number)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
            self._open.add(descriptor)
            starts = range(0, max(listed.size, 1), _PART)
            file = _File(name, listed, path, descriptor, len(starts))
            for start in starts:
                yield file, start, min(start + _PART, listed.size)

    async def _work(self, parts: Iterator[tuple[_File, int, int]]) -> None:
        for file, start, stop in parts:
            if stop:
                await self._part(file, start, stop)
            file.left -= 1
            if not file.left:
                finish = asyncio.ensure_future(asyncio.to_thread(self._finish, file))
                self._finishing.add(finish)
                await asyncio.shield(finish)
                self._finishing.remove(finish)
                self._open.remove(file.descriptor)
                os.close(file.descriptor)

    async def _part(self, file: _File, start: int, stop: int) -> None:
        from reader.store.errors import Missing

        try:
            content = await self._store.part(file.name, start, stop, file.listed.size)
        except Missing:
            raise StoreError(
                f"{self._store.url}/{file.name}: it no longer exists. Run the same command again."
            ) from None
        while content:
            written = os.pwrite(file.descriptor, content, start)
            content, start = content[written:], start + written
            self._advance(written)

    def _finish(self, file: _File) -> None:
        os.fsync(file.descriptor)
        time = mtime_ns(file.listed)
        os.utime(file.descriptor, ns=(time, time))
        path = self._folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file.unfinished, path)
