"""What a person has given as the source, a path or a URL, and where it is read then."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.progress import Progress
from packer.run.destination import Destination
from packer.sources.given import Given
from packer.sources.reading import Reading
from packer.storage.decompress import unpacked
from packer.storage.source import StoreSource
from packer.storage.store import access
from packer.words import Placeholder, option
from reader.remote.url import checked, is_url


@contextmanager
def source(
    place: Path | str,
    scratch: Path | None = None,
    options: Mapping[str, Any] | None = None,
    provider: Any = None,
) -> Iterator[Path | StoreSource]:
    """What lies at `place`.

    Args:
        place: a path, or a URL.
        scratch: where the copy of what lies in a store is made.
        options: of the store, by obstore's names.
        provider: of credentials, as obstore's are.

    Raises:
        ArgumentError: there is no such store.
        UnusableInput: `scratch` is missing.
        StoreError: the options are not of this store.
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


def brought(src: Path | StoreSource, to: Destination, progress: Progress) -> Given:
    """Where the source is read: at its path, without links; or, if it is in a store, a copy of it.

    Raises:
        UnusableInput: the destination lies in it, or the store has nothing there.
        StoreError, PackingFailed: it cannot be fetched.
    """
    if isinstance(src, StoreSource):
        inside = f"{to.name}/".startswith(f"{src.name}/")
    else:
        src = Path(os.path.realpath(src))
        inside = to.folder == src or src in to.folder.parents
    if inside:
        name = src.name if isinstance(src, StoreSource) else src
        raise UnusableInput(
            f"{to.name} lies inside {name}, the folder to be packed. Choose another place."
        )
    return src.fetched(progress) if isinstance(src, StoreSource) else Given.at(src)


def whole(given: Given | Reading, to: Destination, progress: Progress) -> Given | Reading:
    """The same, unpacked if it is a tar that is compressed as a whole."""
    if isinstance(given, Reading):
        return given
    return replace(given, path=unpacked(given.path, to.folder, progress))
