"""From what a person says to the executor that is meant."""

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from typing import Any

from packer.errors import UnusableInput, said

_DASK_RETRIES = 3  # of a job that fails; one whose worker is gone is done again in any case
_DASK_SECONDS = 30  # for which the scheduler is waited for
_RAY_RETRIES = 3  # of a job whose process or node was killed


@contextmanager
def connected(place: Executor | str | None) -> Iterator[Executor | None]:
    """Yield the executor at an address, or `place` itself; None: processes of this machine."""
    if place is None or place == "local":
        yield None
    elif isinstance(place, Executor):
        yield place
    elif place.startswith("dask://"):
        with _dask("tcp" + place.removeprefix("dask")) as executor:
            yield executor
    else:
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


class RayExecutor(Executor):
    """Submits tasks to a Ray cluster; a task takes one CPU, and is done again if its node dies.

    A context manager. A connection that was there before it stays.
    """

    def __init__(self, address: str | None = None) -> None:
        """Connect to the cluster at ``ray://HOST:PORT``.

        None is the one that runs here, or that RAY_ADDRESS names, else one of this machine alone.
        """
        try:
            import ray
        except ImportError as error:
            raise UnusableInput(
                f"Ray cannot be imported ({error}). Install it: pip install 'shardfeed[ray]'."
            ) from error
        self._ray = ray
        self._began = not ray.is_initialized()
        if self._began:
            ends = signal.getsignal(signal.SIGTERM)
            try:
                ray.init(address, log_to_driver=False, logging_level=logging.WARNING)
            except Exception as error:
                raise UnusableInput(
                    f"No Ray cluster answers at {address or 'this machine'}: {said(error)}."
                ) from error
            finally:
                if threading.current_thread() is threading.main_thread():
                    signal.signal(signal.SIGTERM, ends)  # Ray's would end without a word
        self._task = ray.remote(num_cpus=1, max_retries=_RAY_RETRIES)(_called)

    @property
    def workers(self) -> int:
        """Return the CPUs of the cluster as it is now."""
        return int(self._ray.cluster_resources().get("CPU", 0))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Have ``fn(*args, **kwargs)`` called somewhere; cancelling the future ends the task."""
        task = self._task.remote(fn, *args, **kwargs)
        future: Future[Any] = Future()

        def settle(done: "Future[Any]") -> None:
            with suppress(InvalidStateError):  # it was cancelled
                if (error := done.exception()) is not None:
                    future.set_exception(error)
                else:
                    future.set_result(done.result())

        def end(given_up: "Future[Any]") -> None:
            if given_up.cancelled():
                self._ray.cancel(task, force=True)

        task.future().add_done_callback(settle)  # Ray's own does not bear being cancelled
        future.add_done_callback(end)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, if this has joined it."""
        if self._began:
            self._ray.shutdown()


def _called(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)
