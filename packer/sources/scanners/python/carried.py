"""Brings a dataset of the caller's to the packing processes: once to each of them."""

import io
import os
import sys
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import IO, Any, TypeVar

from PIL import ImageFile

from packer.errors import UnusableInput, message_of
from packer.sources.scanners.python.values import reopened, unchanged_file

_making = threading.Lock()
F = TypeVar("F", bound=IO[bytes])


class Carried:
    """A dataset for each split, pickled before anything is read from it: no handle is open yet.

    On Linux it is in anonymous memory, which each process reads once, so that jobs stay small.
    """

    def __init__(self, parts: Mapping[str, Any], what: str) -> None:
        self._parts: Mapping[str, Any] | None = parts  # None: in a packing process
        self._what = what
        self._parcel: bytes | tuple[int, int] | None = None

    def pack_up(self, *, far: bool) -> None:
        """Make it ready to be sent, `far` to other machines; raise where it does not pickle."""
        try:
            if far or sys.platform != "linux":
                self._parcel = _pickle(self.parts, io.BytesIO()).getvalue()
                return
            descriptor = os.memfd_create("packer")
            self._parcel = os.getpid(), descriptor
            with open(descriptor, "wb", closefd=False) as file:
                _pickle(self.parts, file)
        except Exception as error:  # whatever its own __reduce__ raises
            self.put_down()
            raise UnusableInput(
                f"The source, {self._what}, cannot be sent to the packing processes: "
                f"{_culprit(self.parts)}{message_of(error)}. Open files, HDF5 or LMDB when an item "
                "is first read instead of in __init__. Or pass jobs=1 to read it in this "
                "process."
            ) from error

    def put_down(self) -> None:
        """Free the memory: nothing is sent any more."""
        if isinstance(self._parcel, tuple):
            os.close(self._parcel[1])
        self._parcel = None

    def __getstate__(self) -> dict[str, Any]:
        assert self._parcel is not None, "it was not pickled"
        return {**self.__dict__, "_parts": None}

    @property
    def parts(self) -> Mapping[str, Any]:
        """A dataset for each split, made once in each packing process."""
        if self._parts is not None:
            return self._parts
        try:
            with _making:
                return _made(self._parcel)
        except Exception as error:
            raise UnusableInput(
                f"The source, {self._what}, cannot be unpickled in a packing process: "
                f"{type(error).__name__}, {message_of(error)}. Define its classes in a module that "
                "can be imported there. Or pass jobs=1 to read it in this process."
            ) from error


@lru_cache(maxsize=1)  # a process makes them once, and not for every sample
def _made(parcel: bytes | tuple[int, int]) -> Any:
    import cloudpickle

    if isinstance(parcel, bytes):
        return cloudpickle.loads(parcel)
    with open("/proc/{}/fd/{}".format(*parcel), "rb") as file:
        return cloudpickle.load(file)


def _pickle(parts: Mapping[str, Any], file: F) -> F:
    """Pickle datasets into a file; a picture that is open keeps the bytes of its own."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            is_open = isinstance(value, ImageFile.ImageFile) and value.tile
            if is_open and (data := unchanged_file(value)):  # which Pillow would leave out
                return reopened, (data, value.filename, value.info)
            return super().reducer_override(value)

    Pickler(file).dump(parts)
    return file


def _culprit(parts: Mapping[str, Any]) -> str:
    import cloudpickle

    for part in parts.values():
        for name, value in getattr(part, "__dict__", {}).items():
            try:
                cloudpickle.dumps(value)
            except Exception:
                return f"its attribute {name!r}: "
    return ""
