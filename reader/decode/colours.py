"""Turn the colours of a mask into the numbers of their classes."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

_AT_A_TIME = 1 << 14  # pixels, whose arrays stay in the processor's cache
_BITS = 14  # of a colour's hash: 64 KiB in place of the 16 MiB of all colours
_SHIFT, _BYTE = np.uint32(32 - _BITS), np.uint32(8)


class ColourTable:
    """A hash table without collisions of up to 256 colours, red, green and blue each."""

    def __init__(self, colors: Sequence[Sequence[int]]) -> None:
        self.colors = colors
        numbers = np.arange(len(colors), dtype=np.uint32)
        codes = _codes(np.array([colors], np.uint8))[0]
        factor = 0x9E3779B1
        while len(np.unique(codes * np.uint32(factor) >> _SHIFT)) < len(codes):
            factor += 2
        self._factor = np.uint32(factor)
        # A colour's code, with its number in place of the fourth byte, which is 255 in codes.
        self._table = np.full(1 << _BITS, codes[0], np.uint32)
        self._table[codes * self._factor >> _SHIFT] = codes ^ numbers << np.uint32(24)

    def numbers(self, pixels: Pixels, ignore: int | None = None) -> Pixels:
        """Return the numbers of pixels (height, width, 3) as (height, width), `ignore` for others.

        It raises KeyError with another colour if `ignore` is None.
        """
        height, width = pixels.shape[:2]
        out = np.empty((height, width), np.uint8)
        step = max(_AT_A_TIME // max(width, 1), 1)
        for top in range(0, height if width else 0, step):
            codes = _codes(pixels[top : top + step])
            found = codes * self._factor
            found >>= _SHIFT
            found = self._table.take(found, mode="clip")
            found ^= codes
            rows = out[top : top + step]
            rows[...] = found.view(np.uint8).reshape(*codes.shape, 4)[..., 3]
            found <<= _BYTE
            if found.any():
                if ignore is None:
                    raise KeyError(tuple(pixels[top : top + step][found != 0][0].tolist()))
                rows[found != 0] = ignore
        return out


def _codes(pixels: Pixels) -> NDArray[np.uint32]:
    return cv2.cvtColor(pixels, cv2.COLOR_RGB2RGBA).view("<u4")[..., 0]
