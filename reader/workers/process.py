"""One worker process: how it is started, spoken to and ended."""

import contextlib
import math
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Set
from io import FileIO
from multiprocessing.connection import Connection

import cloudpickle

from reader.batch.ring import unnamed_file
from reader.errors import WorkerError
from reader.processes import fork_server
from reader.processes.child import environment
from reader.workers.messages import Go, Setup

_DYING_SECONDS = 2.0
_TRIAL_SECONDS = 2.0  # to hear why a worker dies


class WorkerProcess:
    """One worker as the parent sees it; telling it something never waits, also if it is stopped."""

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
            raise WorkerError(f"{sys.executable} cannot be started: {error}.") from error
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
        """Say something short; to a dead worker, nothing."""
        with contextlib.suppress(OSError):  # it died; that is seen, once, by reading
            self.control.send(message)

    def go(self) -> None:
        """Let it take tasks, now or as soon as it is ready."""
        self.is_going = True
        self.send(Go())

    def bind(self, cores: Set[int]) -> None:
        if cores and self.is_ready:  # before that its process may not be there
            with contextlib.suppress(OSError):  # the system does not grant them
                os.sched_setaffinity(self.pid, cores)

    def let_go(self) -> None:
        """Close this process's ends; without another fork that has them, it ends."""
        self.control.close()
        self._child.let_go()

    def kill(self) -> None:
        self.control.close()
        self._child.kill()

    def stop(self) -> int:
        self.kill()
        return self._child.wait(_DYING_SECONDS)


def setup_file(setup: Setup) -> FileIO:
    """Write the set-up, and where modules are found, to a file: a socket would not hold it."""
    content = memoryview(pickle.dumps((sys.path, cloudpickle.dumps(setup))))
    file = FileIO(unnamed_file(len(content)), "wb")
    try:
        while content:
            content = content[file.write(content) :]
    except BaseException:
        file.close()
        raise
    return file


def start_failure() -> str:
    """What the interpreter says when it does nothing but import a worker's module."""
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
    said = trial.stderr.decode(errors="replace").strip()
    return f" {sys.executable} says:\n{said}" if trial.returncode and said else ""


def cause_of(code: int) -> str:
    if code == -signal.SIGKILL:
        return "killed with SIGKILL, as the system does when memory runs out"
    if code == -signal.SIGBUS:
        return "ended by SIGBUS, as when a mapped file was cut short or its disk fails"
    return f"ended by signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def remedy_for(code: int) -> str:
    if code == -signal.SIGKILL:
        return "Fewer workers, a smaller batch_size or smaller images need less memory."
    if code == -signal.SIGBUS:
        return "Check the dataset with `packer verify`, and restore that shard and its index."
    return "Check the shard with `packer verify`, and your own code with that sample."
