"""The reader's errors; the root, `ShardfeedError`, is shared with packer.

::

    ShardfeedError
    ├── FormatError        a shard, an index or dataset.json does not follow the format
    └── ReaderError        a dataset cannot be read as asked
        ├── ArgumentError  an argument is wrong; also a ValueError
        ├── SampleError    one sample cannot be read or decoded
        ├── StoreError     a request to a store failed, or its cache cannot be used
        └── WorkerError    a worker process failed or hangs
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

_PACKAGE = Path(__file__).parent
_MOST_FRAMES = 60

# Libraries in C report it by their text, in errors of general types.
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
    """An argument has the wrong type or value, or contradicts another one or the dataset.

    Example:
        >>> reader.Loader("shards", batch_size=0)
        Traceback (most recent call last):
            ...
        reader.ArgumentError: batch_size is an integer of at least 1, not 0.
    """

    __module__ = "reader"


class SampleError(ReaderError):
    """One sample cannot be read or decoded; the message has shard, key, offset and reason.

    Example:
        >>> try:
        ...     reader.Dataset("shards").read(0, "mp3")
        ... except reader.SampleError as error:
        ...     print(error)
        /...shard-000000.tar: sample '...' at byte ...
    """

    __module__ = "reader"


class StoreError(ReaderError):
    """A request to a store failed, or its cache cannot be used; the message has no credentials.

    Example:
        >>> try:
        ...     reader.Dataset("https://example.org/shards", cache_dir="/dev/null/cache")
        ... except reader.StoreError as error:
        ...     print(error)
        /dev/null/cache cannot hold the cache: Not a directory. Give another cache_dir=.
    """

    __module__ = "reader"


class WorkerError(ReaderError):
    """A worker process failed or hangs.

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
    """Carries an exception of the user's code past reader's own handlers; never raised to users."""

    def __init__(self, what: str, error: Exception) -> None:
        super().__init__(f"{what} raised {error!r:.200}")
        self.what = what
        self.error = error

    def at(self, place: str) -> Exception:
        """Return the exception with a SampleError that names the place, as its first cause."""
        where = SampleError(f"{place}: {self.what} raised the error below.")
        entry = self.error.__traceback__
        while entry is not None and _is_own(entry.tb_frame.f_code.co_filename):
            entry = entry.tb_next
        return because(self.error.with_traceback(entry), where)


def called(what: str, function: Callable[..., T], *arguments: Any) -> T:
    """Call a function of the user's; its StopIteration would silently end the epoch."""
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError(f"{what} raised StopIteration") from error


def because(error: Exception, first: ReaderError) -> Exception:
    """Put an error before all causes of an exception, so that it is printed above them."""
    last: BaseException = error
    seen = {id(last)}
    while (
        following := last.__cause__ or (None if last.__suppress_context__ else last.__context__)
    ) and id(following) not in seen:
        last = following
        seen.add(id(last))
    if last is not first:  # also for a class whose attributes cannot be set
        BaseException.__dict__["__cause__"].__set__(last, first)
    return error


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames of an exception from the first one that is not reader's."""
    frames = list(traceback.extract_tb(error.__traceback__))
    while frames and _is_own(frames[0].filename):
        del frames[0]
    return frames[-_MOST_FRAMES:]


def _is_own(file: str) -> bool:
    return _PACKAGE in Path(file).parents


def own_lines(error: BaseException) -> str:
    """Return the traceback of an exception as text, without reader's first frames."""
    kind = traceback.format_exception_only(type(error), error)
    return "".join([*traceback.format_list(own_frames(error)), *kind]).rstrip()


def lacks_memory(error: BaseException) -> bool:
    """Whether memory ran out; then the sample is not to blame."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    if type(error).__module__ == "cv2":
        return getattr(error, "code", None) == _OPENCV_NO_MEMORY
    try:
        text = str(error)
    except Exception:  # the user's class may raise
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
