"""Open and read the files of a dataset, which are not trusted."""

import contextlib
import errno
import mmap
import os
import resource
import stat
from pathlib import Path


def most_open_files() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 20 if soft == resource.RLIM_INFINITY else soft


def raise_most_open_files() -> None:
    """Let this process open as many files as the system allows it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):  # macOS allows fewer than its hard limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def most_mappings() -> int:
    """Return how many parts of files a process can map."""
    try:
        return int(Path("/proc/sys/vm/max_map_count").read_text())
    except (OSError, ValueError):  # not Linux, or a sandbox
        return 65_530


def reason_of(error: OSError) -> str:
    """Return the system's reason; for too many open files, with the limit."""
    reason = error.strerror or str(error)
    if error.errno == errno.EMFILE:
        most = most_open_files()
        return f"{reason} in one process: `ulimit -n` allows {most}; run `ulimit -n {4 * most}`"
    return reason


def read_into(descriptor: int, memory: memoryview | bytearray, offset: int) -> int:
    """Fill `memory` from `offset` on, also in several reads; return fewer bytes at the end."""
    size = len(memory)
    done = os.preadv(descriptor, [memory], offset)
    if 0 < done < size:
        rest = memoryview(memory)
        while done < size and (more := os.preadv(descriptor, [rest[done:]], offset + done)):
            done += more
    return done


def map_part(file: int, start: int, size: int, access: int = mmap.ACCESS_READ) -> memoryview:
    """Map part of a file; raise ValueError if the file ends before it."""
    before = start % mmap.ALLOCATIONGRANULARITY
    if not size:
        return memoryview(bytearray())
    return memoryview(mmap.mmap(file, before + size, access=access, offset=start - before))[before:]


def open_regular(path: str | os.PathLike[str]) -> int:
    """Open a regular file for reading; a pipe or a device would block the reader."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise OSError(error.errno, reason_of(error), os.fspath(path)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", os.fspath(path))
    return descriptor
