"""How the process of a worker begins and ends."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import reader
from reader import Loader, WorkerError

Script = Callable[..., "subprocess.CompletedProcess[str]"]
pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_an_interpreter_that_does_not_start_is_told_with_what_it_says(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'libpython is gone' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 10 * now())
    with (
        Loader(packed, workers=2) as loader,
        pytest.raises(WorkerError, match=r"exit status 3.*\n.*libpython is gone"),
    ):
        list(loader)


def test_an_interpreter_that_is_not_there_is_told_and_leaves_nothing_behind(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(WorkerError, match=re.escape(str(tmp_path / "python"))):
        Loader(packed, workers=2)


def test_modules_in_the_working_directory_do_not_disturb_the_workers(
    packed: Path, tmp_path: Path, run_script: Script
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("reader", "pickle", "numpy"):
        (elsewhere / f"{name}.py").write_text("raise SystemExit('the wrong module')")
    done = run_script(
        """
        import sys
        import reader

        with reader.Loader(sys.argv[1], workers=1) as loader:
            print(len(list(loader)))
        """,
        packed,
        cwd=elsewhere,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "39", "")


def is_gone(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_ZOMBIE  # dead; its new parent has not asked yet
    except psutil.NoSuchProcess:
        return True


@pytest.mark.parametrize("state", [pytest.param("idle", marks=pytest.mark.slow), "busy", "forked"])
def test_a_parent_that_is_killed_leaves_no_workers(packed: Path, state: str) -> None:
    code = """
import os, sys, time
import reader

class Slow:
    def apply(self, geometry, rng):
        time.sleep(0.05)

loader = reader.Loader(
    sys.argv[1], batch_size=2, workers=3, transforms=[Slow()] if sys.argv[2] == "busy" else []
)
batches = iter(loader)
next(batches)
if sys.argv[2] == "forked" and os.fork() == 0:  # as torch's DataLoader does
    time.sleep(100)
print("ready", flush=True)
while True:
    next(batches, None)
    time.sleep(0.01)
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(reader.__file__).parent.parent)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(packed), state],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        children = psutil.Process(parent.pid).children(recursive=True)
        forked = [child for child in children if child.cmdline()[1:] == parent.args[1:]]
        left = [child for child in children if child not in forked]
        assert (len(left), len(forked)) == (1 + 3, state == "forked")
        parent.kill()
    deadline = time.monotonic() + 2
    while not all(map(is_gone, left)) and time.monotonic() < deadline:
        time.sleep(0.02)
    remaining = [process for process in left if not is_gone(process)]
    for process in (*forked, *remaining):
        process.kill()
    assert remaining == []
