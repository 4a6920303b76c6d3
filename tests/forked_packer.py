"""The command line in a process that is forked from one that has imported what it needs.

To a test it is ``python -m packer``: a process and a session of its own, with its own output, exit
code, environment and working directory. What it does not show is how the command starts; who tests
that, or gives it an environment that Python reads then, executes it.
"""

import gc
import importlib
import os
import pickle
import pkgutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence

_LARGEST = 1 << 16  # of a request
_NEEDED = ("sources", "run", "inspect.info", "inspect.verify")  # of packer, by most tests


class ForkedPacker:
    """That process, which ends with this one."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=self._environment,
            )

    def can_have(self, environment: Mapping[str, str]) -> bool:
        """Whether its children can have this environment: not if Python would start otherwise."""
        changed = dict(environment.items() ^ self._environment.items())
        return not any(name.startswith(("PYTHON", "LANG", "LC_")) for name in changed)

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        """Run the command line to its end, in this process's working directory."""
        request = pickle.dumps(([*arguments], dict(environment)))
        with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
            folder = os.open(".", os.O_PATH if hasattr(os, "O_PATH") else os.O_RDONLY)
            try:
                descriptors = [folder, stdout.fileno(), stderr.fileno()]
                with self._lock:
                    socket.send_fds(self._socket, [request], descriptors)
                    code = pickle.loads(self._socket.recv(_LARGEST))
            finally:
                os.close(folder)
            said = []
            for file in (stdout, stderr):
                file.seek(0)
                said.append(file.read().decode())
        return subprocess.CompletedProcess(["packer", *arguments], code, *said)

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait()


def _serve(requests: socket.socket) -> None:
    import packer.images.tiling
    from packer.cli.main import main

    for name in _NEEDED:  # once, and not in each child
        room = importlib.import_module(f"packer.{name}")
        for found in pkgutil.walk_packages(getattr(room, "__path__", ()), f"{room.__name__}."):
            importlib.import_module(found.name)

    importlib.import_module("packer.sources.readings.exports.known").forms()

    if packer.images.tiling.is_available():
        packer.images.tiling.load()
    gc.freeze()  # a collection in the child would copy it all
    while True:
        content, received, *_ = socket.recv_fds(requests, _LARGEST, 3)
        if not content:
            return
        pid = os.fork()
        if not pid:
            requests.close()
            arguments, environment = pickle.loads(content)
            _become(environment, *received)
            try:
                main(arguments, prog_name="python -m packer")
            except SystemExit as ended:
                sys.stdout.flush()
                os._exit(int(ended.code or 0))  # to clear away all that was imported takes longer
        for descriptor in received:
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        requests.send(pickle.dumps(code))


def _become(environment: Mapping[str, str], folder: int, stdout: int, stderr: int) -> None:
    """Have what a process is executed with."""
    os.environ.clear()
    os.environ.update(environment)
    os.setsid()
    os.fchdir(folder)
    os.dup2(stdout, 1)
    os.dup2(stderr, 2)
    for descriptor in (folder, stdout, stderr):
        os.close(descriptor)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
