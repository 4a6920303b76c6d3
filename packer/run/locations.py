"""Where a dataset is to be written, of what a person gave."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.run.destination import Destination
from packer.run.store_destination import StoreDestination
from packer.words import Placeholder, option
from reader.remote.provider import sent
from reader.remote.url import checked, is_url, need

_WRITABLE = ("s3://", "gs://", "az://", "file://")


@contextmanager
def destination(
    place: Path | str,
    scratch: Path | None = None,
    options: Mapping[str, Any] | None = None,
    provider: Any = None,
) -> Iterator[Destination]:
    """Where `place` is: a folder, or a URL.

    Args:
        place: a path, or the URL of a dataset.
        scratch: where shards are built before they are uploaded.
        options: of the store, by obstore's names.
        provider: of credentials, as obstore's are.

    Raises:
        ArgumentError: it is not the URL of a dataset.
        UnusableInput: nothing can be written there, or `scratch` is missing or of no use.
        StoreError: the options are not of this store.
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
    with StoreDestination(url, scratch, *access(url, options, provider)) as found:
        yield found


def access(
    url: str, options: Mapping[str, Any] | None, provider: Any
) -> tuple[dict[str, Any], bytes | None]:
    """How a store is opened: its options, and the provider of credentials, pickled.

    Raises:
        ArgumentError: the store takes no such provider.
        UnusableInput: the options are none.
        StoreError: what reads from stores is not installed.
    """
    if not isinstance(options or {}, Mapping):
        raise UnusableInput("storage_options is a dict of names and values of the store's.")
    need("obstore", url)
    return dict(options or {}), sent(provider, url)
