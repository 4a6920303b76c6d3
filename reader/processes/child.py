"""Child processes that end with their parent.

They need no ``__main__`` guard, have no modules of the user's process, and no locks of its threads.
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

# Like ``python -m MODULE``, but without modules of the working directory, and the parent handles
# Ctrl-C.
_START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "sys.path[:] = filter(None, sys.path); "
    "from importlib import import_module; import_module(sys.argv[1]).main(sys.argv[2:])"
)
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


class Child:
    """A process that the system kills when its parent's end of a pipe is closed."""

    def __init__(self, process: Any, life: int) -> None:
        self._process = process  # a subprocess.Popen, or a `_Forked`
        self._life = FileIO(life, "wb")  # two threads may close it

    @property
    def pid(self) -> int:
        """Its pid; before it is forked, that of its fork server."""
        return self._process.pid

    def let_go(self) -> None:
        """Close this process's end of the pipe; the child ends when no fork has it any more."""
        self._life.close()

    def kill(self) -> None:
        self.let_go()
        self._process.kill()

    def wait(self, timeout: float) -> int:
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:  # the system ends it after its disk access
            return -signal.SIGKILL


def start(module: str, descriptors: Sequence[int], *arguments: int | str) -> Child:
    """Execute ``main`` of `module` with `descriptors`, its pipe's descriptor and `arguments`."""
    theirs, life = os.pipe()
    # Blocked until the child ignores it: it would end a starting interpreter with a traceback.
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
    """An object that a forked child must release, so that others notice its owner's end."""

    def let_go(self) -> None:
        """Close this process's descriptors only."""


_held: "weakref.WeakSet[Held]" = weakref.WeakSet()


def let_go_in_forks(held: Held) -> None:
    """Call `held.let_go` in each child that is forked from this process while it exists."""
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
    """Whether closing its pipe ends a process in any state, as on Linux."""
    return hasattr(fcntl, "F_SETSIG")


def end_with_parent(life: int) -> None:
    """Make the system kill this process when the parent's end of the pipe `life` is closed.

    A process that is stopped, or runs a user's function, would not notice a closed connection.
    (PR_SET_PDEATHSIG would also kill it when only the thread that started it ends.)
    """
    if can_be_ended():
        with contextlib.suppress(OSError):
            fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC)
        end = select.poll()
        end.register(life, 0)
        if end.poll(0):  # it is already closed
            os.kill(os.getpid(), signal.SIGKILL)
