"""What can go wrong in reading; the root, `ShardfeedError`, is shared with packer."""

from reader.format import ShardfeedError


class ReaderError(ShardfeedError):
    """A data set cannot be read as asked."""


class SampleError(ReaderError):
    """One sample cannot be read or decoded; names shard, key, offset and reason."""


class WorkerError(ReaderError):
    """A worker process failed, or keeps dying."""
