"""Processes that are executed or forked from one that was, and end with the one that wants them.

No ``__main__`` guard is needed, nothing that the user's process has loaded is in them, and no
thread of it can hold a lock in them.
"""

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import weakref
from collections.abc import Sequence
from io import FileIO
from pathlib import Path
from typing import Any, Protocol

# Like ``python -m MODULE``, but no module in the working directory can get in the way, and Ctrl-C
# is left to the parent, which says when to end.
_START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "sys.path[:] = filter(None, sys.path); "
    "from importlib import import_module; import_module(sys.argv[1]).main(sys.argv[2:])"
)
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


class Child:
    """A process that the system kills when this one's end of a pipe is closed."""

    def __init__(self, process: Any, life: int) -> None:
        self._process = process  # a subprocess.Popen, or what stands for one
        self._life = FileIO(life, "wb")  # which two threads may close

    @property
    def pid(self) -> int:
        """Its number; before it is forked, that of the process that it will be forked from."""
        return self._process.pid

    def let_go(self) -> None:
        """Close this process's end of the pipe; without another fork that has it, it ends."""
        self._life.close()

    def kill(self) -> None:
        self.let_go()
        self._process.kill()

    def wait(self, timeout: float) -> int:
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:  # the system ends it when the disk lets go
            return -signal.SIGKILL


def start(module: str, descriptors: Sequence[int], *arguments: int | str) -> Child:
    """Execute ``main`` of `module` with `descriptors`, that of its life, and `arguments`."""
    theirs, life = os.pipe()
    # Held back until the process ignores it: an interpreter that is half started dies of it with a
    # traceback.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        inherited = (*descriptors, theirs)
        process = subprocess.Popen(
            [sys.executable, "-c", _START, module, *map(str, (*inherited, *arguments))],
            stdin=subprocess.DEVNULL,
            pass_fds=inherited,
            env=environment(),
        )
    except BaseException:
        os.close(life)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(theirs)
    return Child(process, life)


class Held(Protocol):
    """What a forked child must not keep, or the end of its owner would not be seen."""

    def let_go(self) -> None:
        """Close this process's ends, and leave the other ends alone."""


_held: "weakref.WeakSet[Held]" = weakref.WeakSet()


def let_go_in_forks(held: Held) -> None:
    """Have `held` let go in each child that is forked from this process while it exists."""
    _held.add(held)


def _after_fork() -> None:
    for held in _held:
        held.let_go()


os.register_at_fork(after_in_child=_after_fork)


def environment() -> dict[str, str]:
    package = str(Path(__file__).parent.parent.parent)
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    return {**os.environ, **_ONE_THREAD, "PYTHONPATH": path}


def can_be_ended() -> bool:
    """Whether closing its pipe ends a process whatever it does, as on Linux."""
    return hasattr(fcntl, "F_SETSIG")


def end_with_parent(life: int) -> None:
    """Have the system kill this process when the parent's end of the pipe `life` is closed.

    A process that is stopped or within a user's callable would not see that from a connection.
    (PR_SET_PDEATHSIG would kill it also when just the thread ends that started it.)
    """
    if can_be_ended():
        with contextlib.suppress(OSError):
            fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC)
        end = select.poll()
        end.register(life, 0)
        if end.poll(0):  # it was closed before
            os.kill(os.getpid(), signal.SIGKILL)
