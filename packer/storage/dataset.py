"""A finished dataset in a folder or a store, as a folder."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packer.progress import Progress
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
