"""Tiling by the program `jpegtran`, for JPEGs that are not tiled in this process."""

import shutil
import signal
import subprocess
import tempfile
from functools import cache

from packer.errors import Untileable

PACKAGE = "libjpeg-turbo-progs"
MAX_SECONDS = 60.0
MAX_SCANS = 100  # a hostile progressive file has thousands

_NO_MEMORY = "Insufficient memory"  # what libjpeg says, whatever the JPEG
_ENDED = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}  # not by the JPEG


class JpegtranFailed(Exception):
    """jpegtran could not do its work, whatever the JPEG: the text is the reason."""


@cache
def program() -> str | None:
    return shutil.which("jpegtran")


@cache
def version() -> str:
    """Return its version text; empty if it is not installed or prints none."""
    path = program()
    if path is None:
        return ""
    done = subprocess.run([path, "-version"], stdin=subprocess.DEVNULL, capture_output=True)
    return (done.stderr or done.stdout).decode("utf-8", "replace").strip()


def transcode(data: bytes, restart_interval: int) -> bytes:
    """Return what jpegtran makes of `data`, in limited time and scans: its input is hostile."""
    path = program()
    if path is None:
        raise Untileable(f"jpegtran is not installed; it is in the package {PACKAGE}")
    command = [path, "-copy", "all", "-optimize", "-restart", f"{restart_interval}B"]
    command += ["-maxscans", str(MAX_SCANS)]
    try:
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            done = subprocess.run(command, stdin=file, capture_output=True, timeout=MAX_SECONDS)
    except subprocess.TimeoutExpired:
        raise Untileable(f"jpegtran took longer than {MAX_SECONDS:.0f} s") from None
    except OSError as error:
        what = f"jpegtran cannot be run on a file in {tempfile.gettempdir()}"
        raise JpegtranFailed(f"{what}: {error.strerror}") from error
    complaint = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode in _ENDED or _NO_MEMORY in complaint:
        reason = "out of memory" if _NO_MEMORY in complaint else "killed, or out of memory"
        raise JpegtranFailed(f"jpegtran was ended ({reason})")
    if done.returncode != 0:
        raise Untileable(f"jpegtran: {complaint.splitlines()[0] if complaint else 'failed'}")
    return done.stdout
