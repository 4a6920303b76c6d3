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
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from reader.format import ShardfeedError

T = TypeVar("T")

_PACKAGE = Path(__file__).parent  # whose frames explain nothing in an error of the user's code
_MOST_FRAMES = 60

# How libraries in C say it, in errors of general types.
_NO_MEMORY: tuple[tuple[type[Exception], str], ...] = (
    (ValueError, "Insufficient memory (case "),  # libjpeg, by simplejpeg
    (OSError, "out of memory error"),  # Pillow
    (OSError, "failed to map segment"),  # the dynamic linker, by ctypes
    (ImportError, "failed to map segment"),
)
_OPENCV_NO_MEMORY = -4


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
        >>> reader.Loader("shards", batch_size=0)
        Traceback (most recent call last):
            ...
        reader.ArgumentError: batch_size is an integer of at least 1, not 0.
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


class UserCodeError(Exception):
    """An exception of the user's code on its way past reader's own handlers; never delivered."""

    def __init__(self, what: str, error: Exception) -> None:
        super().__init__(f"{what} raised {error!r:.200}")
        self.what = what
        self.error = error

    def at(self, place: str) -> Exception:
        """Return the exception with an error that says where, as the first of its causes."""
        where = SampleError(f"{place}: {self.what} raised the error below.")
        entry = self.error.__traceback__
        while entry is not None and _is_own(entry.tb_frame.f_code.co_filename):
            entry = entry.tb_next
        return because(self.error.with_traceback(entry), where)


def called(what: str, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function of the user's, whose StopIteration would end the epoch in silence."""
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError(f"{what} raised StopIteration") from error


def because(error: Exception, first: ReaderError) -> Exception:
    """Put an error before all that led to an exception: it is printed above them."""
    last: BaseException = error
    seen = {id(last)}
    while (
        following := last.__cause__ or (None if last.__suppress_context__ else last.__context__)
    ) and id(following) not in seen:
        last = following
        seen.add(id(last))
    if last is not first:  # in a way that a class whose attributes cannot be set does not hinder
        BaseException.__dict__["__cause__"].__set__(last, first)
    return error


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return where an exception was raised, beginning with the first line that is not reader's."""
    frames = list(traceback.extract_tb(error.__traceback__))
    while frames and _is_own(frames[0].filename):
        del frames[0]
    return frames[-_MOST_FRAMES:]


def _is_own(file: str) -> bool:
    return _PACKAGE in Path(file).parents


def own_lines(error: BaseException) -> str:
    """Return the traceback of an exception as text, without the lines of reader before it."""
    kind = traceback.format_exception_only(type(error), error)
    return "".join([*traceback.format_list(own_frames(error)), *kind]).rstrip()


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, which tells nothing of a sample."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if type(error).__module__ == "cv2":
        return getattr(error, "code", None) == _OPENCV_NO_MEMORY
    try:
        text = str(error)
    except Exception:  # as the user's class likes
        return False
    return any(isinstance(error, kind) and words in text for kind, words in _NO_MEMORY)


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn of `text` at the innermost line that is not this package's."""
    level = 2  # the caller
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "reader":
        level += 1
        frame = frame.f_back
    warnings.warn(text, category, stacklevel=level)
