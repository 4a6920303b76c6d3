"""What can go wrong in reading; the root, `ShardfeedError`, is shared with packer."""

import errno

from reader.format import ShardfeedError

# How libraries in C say it: libjpeg, Pillow, OpenCV, the dynamic linker.
_NO_MEMORY = ("Insufficient memory", "out of memory", "Failed to allocate", "failed to map segment")


class ReaderError(ShardfeedError):
    """A data set cannot be read as asked."""


class ArgumentError(ReaderError, ValueError):
    """An argument is not of its kind, or contradicts another one or the data set."""


class SampleError(ReaderError):
    """One sample cannot be read or decoded; names shard, key, offset and reason."""


class DecodeError(ValueError):
    """The bytes do not decode to the image that the index describes; its text is the reason.

    Who knows the sample makes a `SampleError` of it.
    """


class WorkerError(ReaderError):
    """A worker process failed, or keeps dying."""


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, which tells nothing of a sample."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(words in str(error) for words in _NO_MEMORY)
