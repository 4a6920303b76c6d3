"""What can go wrong in reading; the root, `ShardfeedError`, is shared with packer."""

from reader.format import ShardfeedError


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
