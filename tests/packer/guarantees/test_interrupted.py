"""A run that is interrupted or killed at any moment is finished by the next, byte for byte."""

import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from called_packer import call_packer
from other_process import wait_until
from packing import files_of, run_pack

import packer

StartPacker = Callable[..., "subprocess.Popen[str]"]


class Packing:
    """The command that packs `many` into many small shards, to be disturbed and run again."""

    def __init__(
        self, many: Path, dst: Path, start: StartPacker, expected: dict[str, bytes]
    ) -> None:
        self.dst = dst
        self._start, self._expected = start, expected
        self._command = ("pack", many, dst, "--shard-samples", 1, "--jpeg", "verbatim")

    def start(self, jobs: int) -> "subprocess.Popen[str]":
        return self._start(*self._command, "--jobs", jobs)

    def wait_for_shards(self) -> None:
        wait_until(lambda: len(list(self.dst.glob("shard-*.safetensors"))) > 5)

    def is_whole(self) -> bool:
        """Whether the files are those of a run that was never interrupted."""
        return files_of(self.dst) == self._expected

    def finish(self) -> None:
        """Assert that the same command finishes the dataset."""
        assert not (self.dst / "dataset.json").exists()
        call_packer(*self._command, "--jobs", 1, code=0)
        assert self.is_whole()

    def has_leavings(self) -> bool:
        return any(".tmp-" in name for name in files_of(self.dst))


RunPacker = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def packed_many(tmp_path_factory: pytest.TempPathFactory, many: Path) -> dict[str, bytes]:
    """The files of `many` packed as `Packing` does, and never interrupted."""
    dst = tmp_path_factory.mktemp("packed") / "many"
    run_pack(many, dst, jobs=2, shard_samples=1, jpeg="verbatim")
    return files_of(dst)


@pytest.fixture
def packing(
    tmp_path: Path, many: Path, start_packer: StartPacker, packed_many: dict[str, bytes]
) -> Packing:
    return Packing(many, tmp_path / "dst", start_packer, packed_many)


def packing_processes(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Those of the packer's processes that pack."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        try:
            is_server = child.ppid() == process.pid  # from which the others are forked
            if "packer.processes" in " ".join(child.cmdline()) and not is_server:
                found.append(child)
        except psutil.Error:
            continue
    return found


def is_alive(process: psutil.Process) -> bool:
    """Whether it still runs; one that has ended may wait for its parent to notice."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def send_until_it_ends(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    """Send all its processes the signal, again and again."""
    while process.poll() is None:
        os.killpg(process.pid, number)
        time.sleep(0.002)


@pytest.mark.parametrize(
    ("jobs", "number", "send"),
    [
        (1, signal.SIGTERM, os.kill),
        pytest.param(2, signal.SIGTERM, os.kill, marks=pytest.mark.slow),
        pytest.param(1, signal.SIGINT, os.killpg, marks=pytest.mark.slow),
        # Ctrl-C goes to all processes of a terminal
        pytest.param(2, signal.SIGINT, os.killpg, marks=pytest.mark.slow),
        pytest.param(1, signal.SIGHUP, os.kill, marks=pytest.mark.slow),
        pytest.param(2, signal.SIGHUP, os.kill, marks=pytest.mark.slow),
        pytest.param(1, signal.SIGHUP, os.killpg, marks=pytest.mark.slow),  # so does its end
    ],
)
def test_an_interrupted_run_exits_130_and_is_finished_by_the_next(
    packing: Packing, jobs: int, number: signal.Signals, send: Callable[[int, int], None]
) -> None:
    with packing.start(jobs) as process:
        packing.wait_for_shards()
        children = psutil.Process(process.pid).children(recursive=True)
        send(process.pid, number)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "Run the same command again" in stderr
    assert "Traceback" not in stderr
    wait_until(lambda: not any(map(is_alive, children)))
    assert not packing.has_leavings()
    packing.finish()


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_more_signals_of_a_closed_terminal_disturb_nothing(packing: Packing, jobs: int) -> None:
    with packing.start(jobs) as process:
        packing.wait_for_shards()
        send_until_it_ends(process, signal.SIGHUP)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "packer: interrupted." in stderr
    assert "Traceback" not in stderr
    assert not packing.has_leavings()
    packing.finish()


@pytest.mark.parametrize(
    ("number", "jobs"), [(signal.SIGHUP, 2), pytest.param(signal.SIGINT, 1, marks=pytest.mark.slow)]
)
def test_a_signal_that_is_ignored_from_the_start_as_under_nohup_ends_nothing(
    packing: Packing, number: signal.Signals, jobs: int
) -> None:
    before = signal.signal(number, signal.SIG_IGN)  # which a process that is started inherits
    try:
        process = packing.start(jobs)
    finally:
        signal.signal(number, before)
    with process:
        send_until_it_ends(process, number)
        _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert packing.is_whole()


def test_ctrl_c_while_the_processes_start_shows_no_traceback(packing: Packing) -> None:
    with packing.start(2) as process:
        wait_until(lambda: len(packing_processes(process)) == 2)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr


@pytest.mark.slow
def test_runs_killed_at_random_moments_lead_to_the_same_files(packing: Packing) -> None:
    rng, interrupted = random.Random(), 0
    for _ in range(3):
        with packing.start(2) as process:
            wait_until(lambda: packing.dst.exists() or process.poll() is not None)
            time.sleep(rng.uniform(0, 0.3))
            process.kill()
            process.communicate()
        interrupted += not (packing.dst / "dataset.json").exists()
    assert interrupted
    if interrupted == 3:
        packing.finish()
    assert packing.is_whole()


def named_memory(process: psutil.Process) -> set[str]:
    """The names in /dev/shm of what it has mapped, which a killed one would leave.

    They are compared by number: glibc maps a semaphore under a name that it removes again.
    """
    maps = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    mapped = {int(line.split()[4]) for line in maps if "/dev/shm/" in line}
    return {entry.name for entry in os.scandir("/dev/shm") if entry.inode() in mapped}


def test_what_a_killed_process_would_leave_is_seen() -> None:
    lock = multiprocessing.get_context("spawn").RLock()
    assert len(named_memory(psutil.Process())) == 1, lock


def test_a_killed_packer_leaves_nothing_and_the_next_run_finishes(packing: Packing) -> None:
    with packing.start(2) as process:
        packing.wait_for_shards()
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(packing_processes(process)) == 2
        assert set().union(*map(named_memory, [psutil.Process(process.pid), *children])) == set()
        process.kill()
        wait_until(lambda: not any(map(is_alive, children)))
        _, stderr = process.communicate()
    assert [line for line in stderr.splitlines() if not line.startswith("scan: ")] == []
    packing.finish()


# What it starts stops, and the first of them tells it to end before: then it hears of nothing.
HELD = """
import os
from packer import processes
from packer.cli.main import main

fork = processes.fork
processes.fork = lambda *arguments, load: fork(*arguments, load=[*load, "holding"])
processes.Child.kill = lambda child: None
processes.DYING_SECONDS = 0.1
os.environ["INTERRUPTED"] = str(os.getpid())
main()
"""
HOLDING = """
import os, signal

def hold():
    try:
        os.mkdir(__file__ + ".marker")
        os.kill(int(os.environ["INTERRUPTED"]), signal.SIGTERM)
    except FileExistsError:
        pass
    os.kill(os.getpid(), signal.SIGSTOP)

os.register_at_fork(after_in_child=hold)
"""


def test_an_interrupted_run_ends_though_its_processes_hang(tmp_path: Path, packed: Path) -> None:
    script, said = tmp_path / "held.py", tmp_path / "said"
    script.write_text(HELD)
    (tmp_path / "holding.py").write_text(HOLDING)
    copy = shutil.copytree(packed, tmp_path / "copy")
    with said.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, script, "verify", copy, "--jobs", "2"],
            env=os.environ | {"PYTHONPATH": f"{Path(packer.__file__).parent.parent}:{tmp_path}"},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        assert process.wait() == 130
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    assert "packer: interrupted." in said.read_text()


def test_a_killed_packing_process_is_told_and_the_next_run_finishes(packing: Packing) -> None:
    with packing.start(2) as process:
        packing.wait_for_shards()
        packing_processes(process)[0].kill()
        _, stderr = process.communicate()
    assert process.returncode == 2
    assert "A process died" in stderr
    assert "Traceback" not in stderr
    packing.finish()


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_file_that_may_grow_no_more_is_told_and_the_next_run_finishes(
    dst: Path, source: Path, run_packer: RunPacker, jobs: int
) -> None:
    command = ("pack", source, dst, "--shard-samples", 10, "--jpeg", "verbatim", "--jobs", jobs)
    failed = run_packer(*command, ulimit="16")
    assert failed.returncode == 2
    assert re.search(r"shard-00000\d\.tar cannot be written: File too large", failed.stderr)
    assert "Traceback" not in failed.stderr
    assert not (dst / "dataset.json").exists()
    assert not list(dst.glob(".shard-*")), "what was half written was left behind"
    call_packer(*command, code=0)
    assert not list(dst.glob(".*"))
