"""Tiling by the program `jpegtran`, for JPEGs that are not tiled in this process."""

import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache

from packer.errors import Untileable

PACKAGE = "libjpeg-turbo-progs"
NO_MEMORY = "Insufficient memory"  # what libjpeg says, whatever the JPEG
MAX_SECONDS = 60.0
MAX_SCANS = 100  # a hostile progressive file has thousands

_ENDED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}  # not by the JPEG


class JpegtranFailed(Exception):
    """jpegtran could not do its work, whatever the JPEG: the text is the reason."""


@cache
def program() -> str | None:
    """The program's path, None where it is not installed."""
    return shutil.which("jpegtran")


@cache
def version() -> str:
    """What it says of itself; nothing where it is not installed or does not say."""
    path = program()
    if path is None:
        return ""
    said = subprocess.run([path, "-version"], stdin=subprocess.DEVNULL, capture_output=True)
    return (said.stderr or said.stdout).decode("utf-8", "replace").strip()


def transcode(data: bytes, restart_interval: int) -> bytes:
    """Return what jpegtran makes of `data`, in limited time and scans: its input is hostile.

    Raises:
        Untileable: it refuses the JPEG, or is not installed.
        JpegtranFailed: it cannot be run, or something has ended it.
    """
    try:
        return _transcode(data, restart_interval)
    except OSError as error:
        what = f"jpegtran cannot be run on a file in {tempfile.gettempdir()}"
        raise JpegtranFailed(f"{what}: {error.strerror}") from error


def _transcode(data: bytes, interval: int) -> bytes:
    path = program()
    if path is None:
        raise Untileable(f"jpegtran is not installed; it is in the package {PACKAGE}")
    command = [path, "-copy", "all", "-optimize", "-restart", f"{interval}B"]
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        process = subprocess.Popen(
            [*command, "-maxscans", str(MAX_SCANS)],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                result = _read_all(process.stdout.fileno(), time.monotonic() + MAX_SECONDS)
            except BaseException:
                process.kill()
                raise
            complaint = process.stderr.read().decode("utf-8", "replace").strip()
    if process.returncode in _ENDED or NO_MEMORY in complaint:
        reason = "out of memory" if NO_MEMORY in complaint else "killed, or out of memory"
        raise JpegtranFailed(f"jpegtran was ended ({reason})")
    if process.returncode != 0:
        raise Untileable(f"jpegtran: {complaint.splitlines()[0] if complaint else 'failed'}")
    return result


def _read_all(pipe: int, deadline: float) -> bytes:
    poller = select.poll()
    poller.register(pipe, select.POLLIN)
    parts: list[bytes] = []
    while True:
        if not poller.poll(max(0.0, deadline - time.monotonic()) * 1e3):
            raise Untileable(f"jpegtran took longer than {MAX_SECONDS:.0f} s")
        part = os.read(pipe, 1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)
