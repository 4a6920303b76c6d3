"""From what a person says to the executor that is meant."""

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from packer.errors import UnusableInput, said

_ADDRESS = re.compile(r"local|ray|(ray|dask)://[^/\s:]+:\d+")
_DASK_RETRIES = 3  # of a job that fails; one whose worker is gone is done again in any case
_DASK_SECONDS = 30  # for which the scheduler is waited for

KNOWN = "local, ray, ray://HOST:PORT or dask://HOST:PORT"


def is_known(place: str) -> bool:
    """Whether this is the name or the address of an executor."""
    return _ADDRESS.fullmatch(place) is not None


@contextmanager
def connected(place: Executor | str | None) -> Iterator[Executor | None]:
    """The executor that is meant; None for processes of this machine.

    Args:
        place: an executor, which stays as it is, or see `KNOWN`.

    Raises:
        UnusableInput: there is no such executor, or nothing answers there.
    """
    if place is None or place == "local":
        yield None
    elif isinstance(place, Executor):
        yield place
    elif not isinstance(place, str) or not is_known(place):
        raise UnusableInput(
            f"{place!r} is not a place to pack in: {KNOWN}, or an Executor of concurrent.futures."
        )
    elif place.startswith("dask://"):
        with _dask("tcp" + place.removeprefix("dask")) as executor:
            yield executor
    else:
        from packer.shards.ray import RayExecutor

        with RayExecutor(None if place == "ray" else place) as executor:
            yield executor


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise UnusableInput(
            f"dask cannot be imported ({error}). Install it: pip install 'shardfeed[dask]'."
        ) from error
    try:
        client = Client(address, timeout=_DASK_SECONDS, set_as_default=False)
    except Exception as error:
        raise UnusableInput(f"No dask scheduler answers at {address}: {said(error)}.") from error
    with client:
        yield client.get_executor(pure=False, retries=_DASK_RETRIES)
