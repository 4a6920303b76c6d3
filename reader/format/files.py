"""Opens the files of a data set, which may hold anything under their names."""

import errno
import os
import stat


def open_regular(path: str | os.PathLike[str]) -> int:
    """A descriptor of a regular file, for reading; links are followed.

    A pipe or a device under its name would keep its reader waiting, or reading, without end.

    Raises:
        OSError: it is no regular file, or cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
    return descriptor
