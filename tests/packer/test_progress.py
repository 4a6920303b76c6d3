import io
import itertools
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from packer.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_quiet_progress_writes_nothing() -> None:
    for stream in (io.StringIO(), Terminal()):
        with Progress(quiet=True, stream=stream).phase("pack", 10, "samples") as advance:
            advance(10)
        assert stream.getvalue() == ""


def test_no_line_is_written_as_long_as_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("packer.progress._LINE_SECONDS", 0.0)
    stream = io.StringIO()
    with Progress(stream=stream).phase("pack", 2, "samples") as advance:
        advance(0)
        assert stream.getvalue() == ""
        advance(1)
        assert stream.getvalue().startswith("pack: 1 of 2 samples")


def lines_of(*phase: Any, advances: Iterable[int] = ()) -> str:
    """What is printed of a phase that advances so often, into a pipe."""
    stream = io.StringIO()
    with Progress(stream=stream).phase(*phase) as advance:
        for count in advances:
            advance(count)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("phase", "advances", "line"),
    [
        (("pack", 10, "samples", 4), (2, 4), r"pack: 10 of 10 samples, \d+/s, 0 s left\n"),
        (("scan", None, "files"), (3,), r"scan: 3 files, \d+/s\n"),
        (("pack", 5, "samples", 5), (), r"pack: 5 of 5 samples, 0/s\n"),
    ],
    ids=["some are done", "of unknown length", "nothing to do"],
)
def test_piped_progress_is_plain_lines(
    phase: tuple[Any, ...], advances: Sequence[int], line: str
) -> None:
    assert re.fullmatch(line, lines_of(*phase, advances=advances))


def test_bytes_are_told_in_megabytes_and_scaled_on_a_terminal() -> None:
    stream, terminal = io.StringIO(), Terminal()
    for each in (stream, terminal):
        with Progress(stream=each).phase("fetch", 147_300_000, "B") as advance:
            advance(147_300_000)
    assert re.fullmatch(r"fetch: 147\.3 of 147\.3 MB, [\d.]+ MB/s, 0 s left\n", stream.getvalue())
    assert "147M/147M" in terminal.getvalue()


def test_a_line_comes_every_ten_seconds_and_tells_the_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=4)  # four seconds at every look
    monkeypatch.setattr("packer.progress.time.monotonic", lambda: float(next(clock)))
    lines = lines_of("pack", 1000, "samples", advances=[10] * 10).splitlines()
    assert 2 <= len(lines) <= 6
    assert all(re.fullmatch(r"pack: \d+0 of 1000 samples, \d+/s, \d+ s left", x) for x in lines)
    assert lines[-1].startswith("pack: 100 of 1000")


def test_no_time_left_is_told_before_the_first_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("packer.progress.time.monotonic", lambda: now)
    stream = io.StringIO()
    with Progress(stream=stream).phase("pack", 201, "samples") as advance:
        now = 30.0  # something was compiled
        advance(1)
        now = 40.0
        advance(100)
        advance(100)
    assert stream.getvalue().splitlines() == [
        "pack: 1 of 201 samples, 0/s",
        "pack: 101 of 201 samples, 3/s, 10 s left",
        "pack: 201 of 201 samples, 5/s, 0 s left",
    ]


def test_a_failing_phase_does_not_hide_its_error() -> None:
    phase = Progress(stream=io.StringIO()).phase("pack", 5, "samples")
    with pytest.raises(ZeroDivisionError), phase:
        raise ZeroDivisionError


def test_a_terminal_shows_a_bar() -> None:
    stream = Terminal()
    with Progress(stream=stream).phase("pack", 10, "samples", done=4) as advance:
        advance(6)
    assert "pack: 100%" in stream.getvalue()
    assert "10/10" in stream.getvalue()
    assert "\r" in stream.getvalue()


def test_a_bar_makes_no_semaphore_that_would_outlive_a_killed_packer() -> None:
    code = (
        "import io, logging, multiprocessing; from multiprocessing import resource_tracker\n"
        "multiprocessing.set_start_method('spawn')  # as from Python 3.14 on, and on macOS\n"
        "from packer.progress import Progress\n"
        "class Terminal(io.StringIO):\n"
        "    def isatty(self): return True\n"
        "with Progress(stream=Terminal()).phase('pack', 10, 'samples') as advance:\n"
        "    logging.getLogger('packer').warning('a line above the bar'); advance(10)\n"
        "print(resource_tracker._resource_tracker._fd)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr
