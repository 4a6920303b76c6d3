"""The door to a source: a path here or a URL in a store, fetched and decompressed.

Whatever reads a source (`pack` and its parts, `--dry-run`, `--explain`, `repair`) comes in here, so
that all of them read the same.
"""

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from packer.errors import NothingToPack, UnusableInput, call
from packer.progress import QUIET, Progress
from packer.samples.records import Skipped
from packer.sources.interpretation import Interpretation
from packer.sources.trees.compressed import is_compressed_tar
from packer.storage import objects
from packer.storage.copy import Copy, Transfer
from packer.storage.store import EventLoop, access
from packer.storage.unpacked import UnpackedTar, remove_unpacked, unpacked_folder
from packer.words import Placeholder, option
from reader.format import ShardfeedError, mistaken
from reader.store.urls import checked, is_url

if TYPE_CHECKING:
    from packer.storage.listing import ListingStore
    from reader.store.transport import Listed


@dataclass(frozen=True)
class LocalSource:
    """A source of this machine: a path, which may be a copy, or items of Python."""

    name: str  # its path, the URL that it is a copy of, or what a Python dataset is
    path: Path | None  # that is read; None: a Python dataset
    spool: Path = Path()  # folder for what the scan makes for samples, of one that is opened
    version: str = ""  # a checksum of what the store listed
    lacking: tuple[Skipped, ...] = ()  # what is in the store and cannot be at the path
    items: Interpretation | None = None  # of a Python dataset
    archive: str = ""  # a checksum of what the tar at the path was decompressed from

    @classmethod
    def at(cls, path: Path) -> "LocalSource":
        return cls(real := os.path.realpath(path), Path(real))

    def localize(self, progress: Progress, spool: Path) -> "LocalSource":
        return replace(self, spool=spool)

    def forget(self) -> None:
        """Leave it as it is."""


class StoreSource(EventLoop):
    path = items = None

    def __init__(
        self, url: str, scratch: Path, options: dict[str, Any], provider: bytes | None
    ) -> None:
        self.name = url
        self._options, self._provider = options, provider
        self._copy, self._progress = Copy(url, scratch), QUIET
        self._is_fetched = False

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        error = raised[1]
        self._copy.leave()
        if isinstance(error, ShardfeedError):
            call(error, self._copy.folder, self.name)
        if self._is_fetched:
            self._progress.note(
                f"packer: fetched files stay in {self._copy.root}, to continue in the next "
                "run. If there is no next run, remove that folder."
            )

    @cached_property
    def _found(self) -> objects.Found:
        return self.do(objects.find(self.name, self._opened))

    def _opened(self, url: str) -> "ListingStore":
        from packer.storage.listing import ListingStore

        return ListingStore(url, dict(self._options), self._provider)

    @cached_property
    def version(self) -> str:
        return objects.version(self._found.objects)

    def localize(self, progress: Progress, spool: Path) -> LocalSource:
        found, self._progress = self._found, progress
        wanted, skipped = objects.wanted(found.objects, is_folded=self._copy.is_folded)
        if not wanted:
            files = [(item.name, item.reason) for item in skipped]
            raise NothingToPack(f"{self.name} has no object that can be fetched.", files=files)

        def fetch(missing: "Mapping[str, Listed]", folder: Path, unfinished: Path) -> None:
            total, count = sum(listed.size for listed in missing.values()), len(wanted)
            progress.note(
                f"packer: {total / 1e6:,.1f} MB of {self.name} are fetched to {folder} "
                f"({len(missing)} of {count} objects; {count - len(missing)} are already "
                "fetched). They are removed after the dataset has been committed."
            )
            self._is_fetched = True
            with progress.phase("fetch", total, "B") as advance:
                self.do(Transfer(found.store, folder, unfinished, advance).run(missing))

        self._copy.hold(wanted, fetch, progress.note)
        self._is_fetched = True
        path = self._copy.folder / found.entry
        return LocalSource(self.name, path, spool, self.version, tuple(skipped))

    def forget(self) -> None:
        self._is_fetched = not self._copy.remove()


AnySource = LocalSource | StoreSource


@contextmanager
def locate(
    place: Path | str,
    scratch: Path | None = None,
    options: Mapping[str, Any] | None = None,
    provider: Any = None,
) -> Iterator[AnySource]:
    """Yield what the path or URL `place` names; a copy of what is in a store goes to `scratch`."""
    if not is_url(place):
        yield LocalSource.at(Path(place))
        return
    url = checked(str(place))
    if scratch is None:
        raise UnusableInput(
            f"{url}: give ",
            option("scratch", Placeholder("DIR")),
            ", a folder with space for its files. They are fetched first, and removed when they "
            "are packed. Pass the same folder to continue a run.",
        )
    with StoreSource(url, scratch, *access(url, options, provider)) as found:
        yield found


@contextmanager
def open_source(
    src: AnySource,
    progress: Progress,
    dst: Path | None = None,
    dst_name: str = "",
    *,
    keeps: bool = False,
    scratch: Path | None = None,
) -> Iterator[LocalSource]:
    """Yield what to read instead of `src`: a path without links, a copy, a decompressed tar.

    With `keeps`, derived files lie beside the destination `dst` until the dataset is committed;
    otherwise in a temporary folder in `scratch`, or where the system has such.
    """
    inside = src.items is None and f"{src.name.rstrip('/')}/"
    if inside and any(f"{place}/".startswith(inside) for place in (dst, dst_name)):
        raise UnusableInput(
            f"{dst_name} is {'' if dst_name == src.name else f'inside {src.name}, '}the folder to "
            "pack. Choose another destination."
        )
    kept = None if dst is None else unpacked_folder(dst)
    with ExitStack() as stack:
        if kept is not None and keeps:
            made, stays = kept, "until the dataset is committed"
        else:
            if scratch is not None:
                scratch.mkdir(parents=True, exist_ok=True)
            # It is there only once something is in it, so that a kill seldom leaves one behind.
            made = Path(scratch or gettempdir()) / f"shardfeed-{secrets.token_hex(8)}"
            stack.callback(shutil.rmtree, made, ignore_errors=True)
            stays = "until this command ends"
        source = src.localize(progress, made)
        path = source.path
        if path is not None and path.is_file() and is_compressed_tar(path):
            tar = UnpackedTar(path, kept or made)
            if not (checksum := tar.checksum()):
                tar = UnpackedTar(path, made)
                if made != kept:
                    made.mkdir(mode=0o700, exist_ok=True)
                checksum = tar.make(progress, stays)
            source = replace(source, path=tar.path, archive=checksum)
        try:
            yield source
        except ShardfeedError as error:
            if source.path is not None and source.path != path:
                call(error, source.path, source.name)
            if dst is not None and made == kept and not (dst / mistaken.JOURNAL).exists():
                remove_unpacked(dst)  # no run was begun that could go on with it
            raise
