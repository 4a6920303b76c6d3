"""Open the files of a cache: no link leads out of it, and its folders are the user's."""

import errno
import fcntl
import os
import stat
from pathlib import Path

from reader.errors import StoreError


def open_own(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> int:
    """Open a file, but not through a link."""
    try:
        return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise StoreError(
            f"{path} is a symbolic link, and what it points to is no part of the cache. Remove it, "
            "or give another cache_dir=."
        ) from error


def create_own(path: Path) -> int:
    """Create a file in place of what is there, which may be a hard link to a file elsewhere."""
    path.unlink(missing_ok=True)
    return open_own(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)


def shared(path: Path) -> int:
    """Open a file, and lock it beside others that do so."""
    file = open_own(path)
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def check_own(folder: Path) -> None:
    """Raise an error if a folder is a link, or another user's who did not share it."""
    found = folder.lstat()
    is_shared = found.st_mode & stat.S_ISGID and found.st_gid in {os.getegid(), *os.getgroups()}
    if not stat.S_ISDIR(found.st_mode):
        reason = "is not a folder"
    elif found.st_uid not in (os.geteuid(), 0) and not is_shared:
        reason = f"belongs to another user ({found.st_uid})"
    else:
        return
    raise StoreError(f"{folder} {reason}, so it cannot hold a cache. Give another cache_dir=.")
