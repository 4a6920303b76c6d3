"""Processes that are executed, not forked, and end with the one that started them.

No ``__main__`` guard is needed, nothing that the user's process has loaded is in them, and no
thread of it can hold a lock in them.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

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


def start(
    module: str, descriptors: Sequence[int], *arguments: int
) -> tuple["subprocess.Popen[bytes]", int]:
    """Execute ``main`` of `module`; the process, and what holds it alive until it is closed.

    Its arguments are the `descriptors` that it inherits, the one for `end_with_parent`, and
    `arguments`.
    """
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
    return process, life


def environment() -> dict[str, str]:
    """That of such a process."""
    package = str(Path(__file__).parent.parent)
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    return {**os.environ, **_ONE_THREAD, "PYTHONPATH": path}


def end_with_parent(life: int) -> None:
    """Have the system kill this process when the parent's end of the pipe `life` is closed.

    It is closed when the parent ends, in whatever way. A process that is stopped or within a user's
    callable would not see that from a connection. (PR_SET_PDEATHSIG would kill it also when just
    the thread ends that started it.)
    """
    if hasattr(fcntl, "F_SETSIG"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
            fcntl.fcntl(life, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(life, fcntl.F_SETFL, os.O_ASYNC)
