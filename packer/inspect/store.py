"""A dataset in a store, as a folder, for as long as something looks at it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packer.progress import Progress
from reader.remote.url import is_url, need

__all__ = ["as_folder", "is_url"]


@contextmanager
def as_folder(place: Path | str, progress: Progress, *, is_whole: bool) -> Iterator[Path]:
    """The folder of a dataset; of one in a store, a temporary copy.

    Args:
        place: a folder, or a URL.
        progress: of the copying.
        is_whole: with the tars, which takes as much room as the dataset.

    Raises:
        FormatError: there is no dataset.
        StoreError: the store does not give it.
    """
    if not is_url(place):
        yield Path(place)
        return
    need("obstore", str(place))
    from reader.remote.download import download

    with tempfile.TemporaryDirectory(prefix="shardfeed-") as folder:
        with progress.phase("fetch", None, "B") as advance:
            download(str(place), Path(folder), is_whole=is_whole, advance=advance)
        yield Path(folder)
