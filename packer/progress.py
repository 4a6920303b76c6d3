"""How far long work has come: a bar on a terminal, plain lines when piped, or nothing."""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from packer.words import COMMAND_LINE, Shell, bounded

_LINE_SECONDS = 10.0

Advance = Callable[[int], None]  # takes the number of items done since the last call


class Progress:
    """Shows phases of work on `stream`, as `caller` has options; with `quiet` it shows nothing."""

    def __init__(
        self, quiet: bool = False, stream: TextIO | None = None, caller: Shell = COMMAND_LINE
    ) -> None:
        self.written = caller.written
        self._quiet = quiet
        self._stream = stream or sys.stderr

    @contextmanager
    def phase(self, name: str, total: int | None, unit: str, done: int = 0) -> Iterator[Advance]:
        """Show `total` items (None: not known; "B": bytes), of which `done` need no more work."""
        if self._quiet:
            yield lambda count: None
        elif self._stream.isatty():
            from tqdm import tqdm
            from tqdm.contrib.logging import logging_redirect_tqdm

            class Bar(tqdm):  # type: ignore[type-arg]
                """With a lock of its own: tqdm's is a semaphore that outlives a killed process."""

            Bar.set_lock(threading.RLock())
            form: dict[str, Any] = {"unit": unit if unit == "B" else f" {unit}", "smoothing": 0.1}
            form |= {"unit_scale": unit == "B", "file": self._stream}
            bar = Bar(total=total, initial=done, desc=name, **form)
            with logging_redirect_tqdm([logging.getLogger("packer")], Bar), bar:
                yield lambda count: (bar.update(count), None)[1]
        else:
            yield from self._lines(name, total, unit, done)

    def note(self, text: str) -> None:
        """Print a note that explains a wait."""
        if not self._quiet:
            self._write(f"{bounded(self.written(text))}\n")

    def announce(self, *lines: str) -> None:
        """Print what a source is read as, and remarks on it."""
        self.note("\n".join(map(self.written, lines)))

    def rejected(self, files: Collection[tuple[str, str]]) -> None:
        """Take the files that a scan rejects, before the others are packed; the report has them."""

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:  # a full disk under a log is no reason to stop
            silence(self._stream)

    def _lines(self, name: str, total: int | None, unit: str, done: int) -> Iterator[Advance]:
        began = last = time.monotonic()
        first, noun = done, "MB" if unit == "B" else unit
        warm: tuple[float, int] | None = None  # when the first was done: before it, work got ready

        def shown(count: float) -> str:
            return f"{count / 1e6:.1f}" if unit == "B" else f"{count:.0f}"

        def write() -> None:
            now, left = time.monotonic(), ""
            if total is not None and warm is not None:
                rate = (done - warm[1]) / max(now - warm[0], 1e-9)
                if rate or done >= total:
                    left = f", {max(total - done, 0) / max(rate, 1e-9):.0f} s left"
            each = shown((done - first) / max(now - began, 1e-9)) + " MB" * (unit == "B")
            whole = "" if total is None else f" of {shown(total)}"
            of_one = noun.removesuffix("s") if (total or done) == 1 else noun
            self._write(f"{name}: {shown(done)}{whole} {of_one}, {each}/s{left}\n")

        def advance(count: int) -> None:
            nonlocal done, last, warm
            done += count
            if count and warm is None:
                warm = time.monotonic(), done
            if count and time.monotonic() - last >= _LINE_SECONDS:  # 0: a process has begun
                last = time.monotonic()
                write()

        yield advance
        write()


QUIET = Progress(quiet=True)


def silence(stream: TextIO) -> None:
    """Redirect it to nowhere: otherwise flushing its rest fails when Python exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
