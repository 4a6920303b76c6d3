"""From what a person says to the executor that is meant."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from packer.errors import UnusableInput, said

_DASK_RETRIES = 3  # of a job that fails; one whose worker is gone is done again in any case
_DASK_SECONDS = 30  # for which the scheduler is waited for


@contextmanager
def connected(place: Executor | str | None) -> Iterator[Executor | None]:
    """The executor that is meant; None for processes of this machine.

    Args:
        place: an executor, which stays as it is, or what `ENGINE` takes.
    """
    if place is None or place == "local":
        yield None
    elif isinstance(place, Executor):
        yield place
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
