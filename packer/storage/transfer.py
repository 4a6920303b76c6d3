"""Objects of a store on their way into a folder.

Purpose: fetch files, many at a time, so that who is killed has little to fetch again.

Guarantees: a file is there under its name when all its bytes are on the disk, with the time that
tells its version; they are of that one version. Files come in their order, so what is unfinished
is little, and lies apart.

Assumptions: nobody else writes into these folders; no name leads outside.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packer.errors import cannot_write
from packer.storage.objects import mtime_ns
from reader.errors import StoreError
from reader.remote.failures import Missing

if TYPE_CHECKING:
    from reader.remote.listing import Listed, ListingStore

_PART = 4 << 20  # bytes of a request
_AT_ONCE = 64  # requests


@dataclass
class _File:
    """One that is being fetched, with so many parts `left` that have not come."""

    name: str
    listed: "Listed"
    unfinished: Path
    descriptor: int
    left: int


class Transfer:
    """Of some objects."""

    def __init__(
        self, store: "ListingStore", folder: Path, unfinished: Path, advance: Callable[[int], None]
    ) -> None:
        """Fetch nothing yet; `unfinished` is on the disk of `folder`, for what has not come."""
        self._store, self._folder, self._unfinished = store, folder, unfinished
        self._advance = advance
        self._open: set[int] = set()

    async def run(self, objects: "Mapping[str, Listed]") -> None:
        """Fetch them; raise where the store does not give one in the version that was listed."""
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
            for descriptor in self._open:
                os.close(descriptor)

    def _parts(self, objects: "Mapping[str, Listed]") -> Iterator[tuple[_File, int, int]]:
        """What is asked for by one request each: a file, and from where to where."""
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
                await asyncio.to_thread(self._finish, file)
                self._open.remove(file.descriptor)
                os.close(file.descriptor)

    async def _part(self, file: _File, start: int, stop: int) -> None:
        try:
            content = await self._store.part(file.name, start, stop, file.listed.size)
        except Missing:
            raise StoreError(
                f"{self._store.url}/{file.name}: it is not there any more. Pack again."
            ) from None
        while content:
            written = os.pwrite(file.descriptor, content, start)
            content, start = content[written:], start + written
            self._advance(written)

    def _finish(self, file: _File) -> None:
        """Have it on the disk, and then under its name."""
        os.fsync(file.descriptor)
        time = mtime_ns(file.listed)
        os.utime(file.descriptor, ns=(time, time))
        path = self._folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file.unfinished, path)
