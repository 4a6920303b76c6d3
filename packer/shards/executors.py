"""Packs shards by an executor of `concurrent.futures`, such as dask's or Ray's, at an address.

Guarantees: a few jobs a worker are under way at a time, whatever their number; what the engine
loses, or refuses, becomes a `ProcessDied` that names the shard; when the work is given up, what has
not begun is cancelled, and what has can finish its shard only while its run is not over.

Assumptions: all machines see source and destination under the same paths; the executor does a job
again separately, or gives it back as failed.
"""

import logging
import pickle
import platform
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, InvalidStateError, wait
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import islice
from typing import Any

from packer import __version__
from packer.errors import AGAIN, PackingFailed, ProcessDied, UnusableInput, message_of
from packer.plan.work import ShardJob
from packer.processes import raise_again
from packer.progress import Advance
from packer.shards.jobs import Outcome, pack_shard
from reader.format import ShardfeedError

STALL_SECONDS = 300.0  # without a finished shard, after which a warning is printed

_A_WORKER = 2  # jobs: one that it does, and one that it finds when that is done
_DASK_RETRIES = 3  # of a job that fails; one whose worker is gone is done again in any case
_DASK_SECONDS = 30  # for which the scheduler is waited for
_RAY_RETRIES = 3  # of a job whose process or node was killed
_log = logging.getLogger("packer")  # its warnings go to stderr as they are

_Answer = tuple[Outcome | None, Exception | None, str]  # the error comes with its machine or trace


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


def _import(module: str, name: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise UnusableInput(
            f"{name} cannot be imported ({error}). Install it: pip install 'shardfeed[{extra}]'."
        ) from error


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    distributed = _import("distributed", "dask", "dask")
    try:
        client = distributed.Client(address, timeout=_DASK_SECONDS, set_as_default=False)
    except Exception as error:
        raise UnusableInput(
            f"No dask scheduler answers at {address}: {message_of(error)}."
        ) from error
    with client:
        yield client.get_executor(pure=False, retries=_DASK_RETRIES)


class RayExecutor(Executor):
    """Submits tasks to a Ray cluster; a task takes one CPU, and is done again if its node dies.

    A context manager. A connection that was there before it stays.
    """

    def __init__(self, address: str | None = None) -> None:
        """Connect to ``ray://HOST:PORT``; None: a local one, that of RAY_ADDRESS, or a new one."""
        self._ray = ray = _import("ray", "Ray", "ray")
        self._began = not ray.is_initialized()
        if self._began:
            ends = signal.getsignal(signal.SIGTERM)
            try:
                ray.init(address, log_to_driver=False, logging_level=logging.WARNING)
            except Exception as error:
                raise UnusableInput(
                    f"No Ray cluster answers at {address or 'this machine'}: {message_of(error)}."
                ) from error
            finally:
                if threading.current_thread() is threading.main_thread():
                    signal.signal(signal.SIGTERM, ends)  # Ray's would end without a word
        task = ray.remote(num_cpus=1, max_retries=_RAY_RETRIES)
        self._task = task(lambda fn, *args, **kwargs: fn(*args, **kwargs))

    @property
    def workers(self) -> int:
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
        if self._began:
            self._ray.shutdown()


def run_in(
    executor: Executor, jobs: Iterable[ShardJob], least: int, advance: Advance
) -> Generator[Outcome, None, None]:
    under_way: dict[Future[_Answer], ShardJob] = {}
    left = iter(jobs)
    try:
        while True:
            room = _A_WORKER * max(_workers(executor), least) - len(under_way)
            for job in islice(left, max(room, 0)):
                with _asked("The executor accepts no more work"):
                    future = executor.submit(work_elsewhere, __version__, pickle.dumps(job))
                under_way[future] = job
            if not under_way:
                return
            done, _ = wait(under_way, STALL_SECONDS, FIRST_COMPLETED)
            if not done:
                _log.warning(
                    "packer: none of the %d shards given to the executor was finished in the "
                    "last %.0f s. Check whether its workers run. To cancel, press Ctrl-C; the "
                    "same command continues the run.",
                    *(len(under_way), STALL_SECONDS),
                )
            for future in done:
                job = under_way.pop(future)
                outcome = _outcome(future, job)
                advance(len(job.samples))
                yield outcome
    finally:
        for future in under_way:
            future.cancel()


def _workers(executor: Executor) -> int:
    """Return the number of parallel jobs of the executor; 0 if it has no such attribute."""
    with _asked("The executor does not answer"):
        client = getattr(executor, "_client", None)  # of dask, whose workers come and go
        if client is not None:
            return sum(client.nthreads().values())
        names = "workers", "num_workers", "_max_workers"
        found = (getattr(executor, name, 0) for name in names)
        return next((number for number in found if isinstance(number, int) and number), 0)


def _outcome(future: "Future[_Answer]", job: ShardJob) -> Outcome:
    with _asked(f"{job}: the executor has not finished it"):
        outcome, failure, where = future.result()
    if isinstance(failure, ShardfeedError):
        raise PackingFailed(f"On {where}: {failure}") from failure
    if failure is not None:
        raise_again(failure, str(job), where)
    assert outcome is not None
    return outcome


@contextmanager
def _asked(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        name, text = type(error).__name__, message_of(error).rstrip(".")
        reason = name if text == name else f"{name}, {text}"
        raise ProcessDied(f"{what}: {reason}. {AGAIN}") from error


def work_elsewhere(version: str, message: bytes) -> _Answer:
    """Do a job in a process of an executor, if that has the packer of this version."""
    host = platform.node()
    try:
        if version != __version__:
            raise PackingFailed(
                f"its packer has version {__version__}, and the run was begun with {version}. "
                "Install the same version there."
            )
        job: ShardJob = pickle.loads(message)
        if job.origin is not None and not job.origin.path.exists():
            raise PackingFailed(
                f"{job.origin.path} does not exist. Source and destination must have the same "
                "paths on all machines, on a shared file system."
            )
        return pack_shard(job, lambda count: None), None, ""
    except ShardfeedError as error:
        return None, error, host
    except Exception as error:
        return None, error, traceback.format_exc()
