"""Start, message and end one worker process."""

import contextlib
import math
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Set
from multiprocessing.connection import Connection

from reader.errors import WorkerError
from reader.processes import fork_server
from reader.processes.child import environment
from reader.workers.messages import Signal

_DYING_SECONDS = 2.0
_TRIAL_SECONDS = 2.0  # to find out why workers die


class WorkerProcess:
    """The parent's handle of one worker; sending never blocks, also if the worker is stopped."""

    def __init__(
        self, setup: int, tasks: socket.socket, memory: int, board: int, place: int
    ) -> None:
        try:
            ours, theirs = socket.socketpair()
            with theirs, contextlib.ExitStack() as undone:
                undone.callback(ours.close)
                fds = (theirs.fileno(), setup, tasks.fileno(), memory, board)
                self._child = fork_server.fork("reader.workers.worker", fds, place, load=["cv2"])
                undone.pop_all()
        except OSError as error:
            raise WorkerError(
                f"{sys.executable} cannot be started as a worker: {error}. To decode without "
                "workers, give reader.Loader workers=0."
            ) from error
        self.place = place
        self.control = Connection(ours.detach())
        self.is_ready = False
        self.ready_at = math.inf
        self.is_going = False
        self.is_resting = False
        self.is_retiring = False
        self.is_retired = False

    @property
    def pid(self) -> int:
        return self._child.pid

    def send(self, message: object) -> None:
        """Send a short message; ignored if the worker is dead."""
        with contextlib.suppress(OSError):  # `Pool` notices the death when it reads
            self.control.send(message)

    def go(self) -> None:
        self.is_going = True
        self.send(Signal.GO)

    def bind(self, cores: Set[int]) -> None:
        if cores and self.is_ready:  # until then, the process may not exist
            with contextlib.suppress(OSError):  # not permitted
                os.sched_setaffinity(self.pid, cores)

    def let_go(self) -> None:
        """Close this process's descriptors; the worker ends when no fork has them any more."""
        self.control.close()
        self._child.let_go()

    def kill(self) -> None:
        self.control.close()
        self._child.kill()

    def stop(self) -> int:
        self.kill()
        return self._child.wait(_DYING_SECONDS)


def start_failure() -> str:
    """Return the interpreter's error from only importing the worker's module."""
    try:
        trial = subprocess.run(
            [sys.executable, "-c", "import reader.workers.worker"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(),
            timeout=_TRIAL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    text = trial.stderr.decode(errors="replace").strip()
    return f" {sys.executable} prints:\n{text}" if trial.returncode and text else ""


def cause_of(code: int) -> str:
    if code == -signal.SIGKILL:
        return "killed with SIGKILL, usually because memory ran out"
    if code == -signal.SIGBUS:
        return "ended by SIGBUS, because a mapped file was truncated or its disk failed"
    return f"ended by signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def remedy_for(code: int) -> str:
    if code == -signal.SIGKILL:
        return "To use less memory, give reader.Loader fewer workers= or a smaller batch_size=."
    if code == -signal.SIGBUS:
        return "Run `packer verify FOLDER`, and restore that shard and its index."
    return "Check the dataset with `packer verify FOLDER`, and your own code with that sample."
