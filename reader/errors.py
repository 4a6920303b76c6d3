"""What can go wrong in reading; the root, `ShardfeedError`, is shared with packer.

All that the reader raises on purpose::

    ShardfeedError
    ├── FormatError        a shard, an index or dataset.json does not follow the format
    └── ReaderError        a dataset cannot be read as asked
        ├── ArgumentError  an argument is wrong; also a ValueError
        ├── SampleError    one sample cannot be read or decoded
        ├── StoreError     a store, or the cache of one, does not give what is asked of it
        └── WorkerError    a worker process failed, or keeps dying
"""

import errno

from reader.format import ShardfeedError

# How libraries in C say it: libjpeg, Pillow, OpenCV, the dynamic linker.
_NO_MEMORY = ("Insufficient memory", "out of memory", "Failed to allocate", "failed to map segment")


class ReaderError(ShardfeedError):
    """A dataset cannot be read as asked.

    Example:
        >>> try:
        ...     reader.Loader("shards", split="test")
        ... except reader.ReaderError as error:
        ...     print(error)
        /.../shards has no split 'test'; it has 'train', 'val'.
    """

    __module__ = "reader"


class ArgumentError(ReaderError, ValueError):
    """An argument is not of its kind, or contradicts another one or the dataset.

    Example:
        >>> try:
        ...     reader.Loader("shards", batch_size=0)
        ... except reader.ArgumentError as error:
        ...     print(error)
        batch_size is an integer of at least 1, not 0.
    """

    __module__ = "reader"


class SampleError(ReaderError):
    """One sample cannot be read or decoded; names shard, key, offset and reason.

    Example:
        >>> try:
        ...     reader.Dataset("shards").read(0, "mp3")
        ... except reader.SampleError as error:
        ...     print(error)
        /...shard-000000.tar: sample '...' at byte ...
    """

    __module__ = "reader"


class StoreError(ReaderError):
    """A store, or the cache of one, does not give what is asked of it; credentials are not named.

    Example:
        >>> try:
        ...     reader.Dataset("https://example.org/shards", cache_dir="/dev/null/cache")
        ... except reader.StoreError as error:
        ...     print(error)
        /dev/null/cache cannot hold the cache: Not a directory. Give another cache_dir=.
    """

    __module__ = "reader"


class WorkerError(ReaderError):
    """A worker process failed, or keeps dying.

    Example:
        >>> import time
        >>> def hang(sample):
        ...     time.sleep(2)
        >>> try:
        ...     reader.Loader("shards", map_sample=hang, timeout=0.1)
        ... except reader.WorkerError as error:
        ...     print(error)
        sample 0 '...' of /...tar took longer than timeout=0.1 allows, ...
    """

    __module__ = "reader"


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, which tells nothing of a sample."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(words in str(error) for words in _NO_MEMORY)
