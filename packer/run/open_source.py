"""The one door to a source: found by its path or URL, fetched, decompressed.

Whatever reads a source (`pack` and its parts, `--dry-run`, `--explain`, `repair`) comes in here, so
that all of them read the same.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packer.errors import UnusableInput
from packer.layouts.interpretation import Reading
from packer.progress import Progress
from packer.run.destination import Destination
from packer.storage import decompress
from packer.storage.source import LocalSource, StoreSource
from packer.storage.store import access
from packer.trees.compressed import is_compressed_tar
from packer.words import Placeholder, option
from reader.store.urls import checked, is_url


@contextmanager
def locate(
    place: Path | str,
    scratch: Path | None = None,
    options: Mapping[str, Any] | None = None,
    provider: Any = None,
) -> Iterator[Path | StoreSource]:
    """Yield what the path or URL `place` names.

    Args:
        place: a path, or a URL.
        scratch: where the copy of what lies in a store is made.
        options: of the store, by obstore's names.
        provider: of credentials, as obstore's are.
    """
    if not is_url(place):
        yield Path(place)
        return
    url = checked(str(place))
    if scratch is None:
        raise UnusableInput(
            f"{url}: give {option('scratch', Placeholder('DIR'))}, a folder with room for what "
            "lies there: it is fetched first, and removed when it is packed. The same one again "
            "continues."
        )
    with StoreSource(url, scratch, *access(url, options, provider)) as found:
        yield found


@contextmanager
def open_source(
    src: Path | StoreSource | Reading,
    progress: Progress,
    to: Destination | None = None,
    *,
    keeps: bool = False,
    scratch: Path | None = None,
) -> Iterator[tuple[LocalSource | Reading, Path]]:
    """Yield what is read in place of `src`, and the folder for what is made of it.

    It is read at its path without links, as a copy, or as the tar that a compressed one holds.

    Args:
        src: as `locate` yields it; or what is understood already.
        progress: where to say what it costs, and to show how far it is.
        to: the destination.
        keeps: keep what is made beside the destination until the dataset is committed.
        scratch: where that folder is made otherwise; None: where the system has such.
    """
    source = src if isinstance(src, Reading) else localize(src, progress, to)
    kept = None if to is None else decompress.beside(to.folder)
    with ExitStack() as stack:
        if kept is not None and keeps:
            made, stays = kept, "until the dataset is committed"
        else:
            if scratch is not None:
                scratch.mkdir(parents=True, exist_ok=True)
            folder = TemporaryDirectory(prefix="shardfeed-", dir=scratch)
            made, stays = Path(stack.enter_context(folder)), "until this command ends"
        if isinstance(source, LocalSource) and _is_compressed(source.path):
            tar = decompress.target(source.path, kept or made)
            if not decompress.is_current(source.path, tar):
                tar = decompress.target(source.path, made)
                decompress.decompress(source.path, tar, progress, stays)
            source = replace(source, path=tar)
        yield source, made


def _is_compressed(path: Path) -> bool:
    return path.is_file() and is_compressed_tar(path)


def localize(
    src: Path | StoreSource, progress: Progress, to: Destination | None = None
) -> LocalSource:
    """Return a source at its path without links, or the copy of one in a store."""
    if isinstance(src, Path):
        src = Path(os.path.realpath(src))
    if to is not None:
        if isinstance(src, StoreSource):
            name, is_inside = src.name, f"{to.name}/".startswith(f"{src.name}/")
        else:
            name, is_inside = str(src), to.folder == src or src in to.folder.parents
        if is_inside:
            raise UnusableInput(
                f"{to.name} lies inside {name}, the folder to be packed. Choose another place."
            )
    return LocalSource.at(src) if isinstance(src, Path) else src.fetched(progress)
