"""Runs a command whose calls to the operating system fail where a test wants them to.

The command is a real process tree; each Python process in it imports `injected/sitecustomize.py`,
which counts the calls that touch the watched folders (a `Site` each) and breaks one of them.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil

import packer

_ROOT = Path(packer.__file__).parent.parent
_INJECTED = Path(__file__).parent / "injected"


class Site(NamedTuple):
    """The `number`-th time, from 1, that a process does `operation` on `path`.

    The path begins with the name of a watched folder; process numbers in it are left out.
    """

    operation: str
    path: str
    number: int


@dataclass(frozen=True)
class Fault:
    """What is to happen.

    Attributes:
        effect: the name of an errno; "short" (half of what was asked for is read or written);
            "interrupt" (by a signal every 2 ms, so that calls that wait end with EINTR);
            "memory" (a MemoryError); "kill" (the process), "orphan" (its parent is killed);
            "truncate", "rewrite", "remove" (the file, before it is read on); "vanish NAME" (a
            watched folder is moved away).
        site: where; None: at every call, which "short" and "interrupt" are for.
        lasting: from then on whatever takes room in the destination fails alike.
    """

    effect: str
    site: Site | None
    lasting: bool = False

    def __str__(self) -> str:
        where = "every call" if self.site is None else " ".join(map(str, self.site))
        return f"{self.effect}{' from then on' if self.lasting else ''} at {where}"


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes:
        code: exit status; None if it hung and was killed.
        happened: whether the fault was reached.
        sites: the calls that were made.
        left: command lines of processes that it left behind, and that were killed then.
    """

    code: int | None
    stdout: str
    stderr: str
    happened: bool
    sites: list[Site]
    left: list[str]


def run(
    arguments: Sequence[object],
    roots: Mapping[str, Path],
    scratch: Path,
    fault: Fault | None = None,
    seconds: float = 60,
) -> Outcome:
    """Run ``python ARGUMENTS``, with the watched folders `roots`, to its end.

    Args:
        arguments: of the interpreter.
        roots: name -> folder.
        scratch: a folder for notes of this run.
        fault: what is to happen.
        seconds: after which it hangs.
    """
    log, marker = scratch / "calls", scratch / "happened"
    for file in (log, marker):
        file.unlink(missing_ok=True)
    plan = {
        "roots": {name: str(path) for name, path in roots.items()},
        "log": str(log),
        "marker": str(marker),
        "fault": fault and {"effect": fault.effect, "site": fault.site, "lasting": fault.lasting},
    }
    environment = os.environ | {
        "PYTHONPATH": f"{_INJECTED}{os.pathsep}{_ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
        "TMPDIR": str(roots.get("tmp", scratch)),
        "FAULTS_OF_THIS_TEST": json.dumps(plan),
    }
    with subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=seconds)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            code, stdout, stderr = None, "", ""
            os.killpg(process.pid, signal.SIGKILL)
        left = _end(process.pid)
    sites = [Site(*json.loads(line)) for line in log.read_text().splitlines()]
    happened = marker.exists() or (fault is not None and fault.site is None)
    return Outcome(code, stdout, stderr, happened, sites, left)


def _end(session: int, seconds: float = 5) -> list[str]:
    """Wait for the processes of a session; those that do not end are named, and killed."""
    deadline = time.monotonic() + seconds
    while (found := _alive(session)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for process in found:
        process.kill()
    return [str(process.pid) for process in found]


def _alive(session: int) -> list[psutil.Process]:
    found = []
    for pid in psutil.pids():
        try:
            if os.getsid(pid) == session and pid != session:
                process = psutil.Process(pid)
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        except (OSError, psutil.Error):
            continue
    return found
