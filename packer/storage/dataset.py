"""A finished dataset in a folder or a store, as a folder."""

import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from packer.progress import Progress
from packer.storage.store import WRITABLE, Store, access
from reader.store.urls import is_url, need


@contextmanager
def as_folder(place: Path | str, progress: Progress, *, is_whole: bool) -> Iterator[Path]:
    """The folder of a dataset; of one in a store, a temporary copy, with the tars if `is_whole`."""
    if not is_url(place):
        yield Path(place)
        return
    need("obstore", str(place))
    from reader.store.download import download

    with tempfile.TemporaryDirectory(prefix="shardfeed-") as folder:
        with progress.phase("fetch", None, "B") as advance:
            download(str(place), Path(folder), is_whole=is_whole, advance=advance)
        yield Path(folder)


def names_in(place: Path | str) -> Collection[str]:
    """Return the names of all files at the place of a dataset; none if it has no list of them."""
    if not is_url(place):
        found = ((Path(folder), names) for folder, _, names in os.walk(place))
        return [
            (folder / name).relative_to(place).as_posix()
            for folder, names in found
            for name in names
        ]
    if not str(place).startswith(WRITABLE):
        return ()
    with Store(str(place), *access(str(place), None, None)) as store:
        return store.list()
