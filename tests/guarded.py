"""Memory with a guard behind it: a write past its end does not always end the process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import simplejpeg
from numpy.typing import NDArray

_GUARD = 1 << 20  # bytes
_VALUE = 0xA5


@contextmanager
def guarded(shape: tuple[int, ...]) -> Iterator[NDArray[np.uint8]]:
    """An array of uint8 (zeros) with guards on both sides, which are looked at in the end."""
    size = int(np.prod(shape))
    memory = np.full(size + 2 * _GUARD, _VALUE, np.uint8)
    inside = memory[_GUARD : _GUARD + size]
    inside[:] = 0
    try:
        yield inside.reshape(shape)
    finally:
        written = np.count_nonzero(memory[:_GUARD] != _VALUE)
        written += np.count_nonzero(memory[_GUARD + size :] != _VALUE)
        assert not written, f"{written} bytes were written beside {size}"


@contextmanager
def guarded_simplejpeg() -> Iterator[None]:
    """Let simplejpeg decode into guarded memory, as large as that which it is given."""
    decode = simplejpeg.decode_jpeg

    def decode_guarded(*arguments: Any, buffer: Any = None, **options: Any) -> Any:
        if buffer is None:
            return decode(*arguments, **options)
        with guarded(buffer.shape) as memory:
            pixels = decode(*arguments, buffer=memory, **options)
            room = buffer[: pixels.size].reshape(pixels.shape)
            room[:] = pixels
        return room

    with mock.patch.object(simplejpeg, "decode_jpeg", decode_guarded):
        yield
