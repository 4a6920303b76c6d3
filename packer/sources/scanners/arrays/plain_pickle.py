"""Reads pickles of plain containers and byte arrays; runs nothing that a pickle asks for.

A pickle may name only what CIFAR's files do (numpy's array and dtype), and gets stand-ins.
"""

import io
import math
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import UnusableInput


class _Array:
    def __init__(self, *_: object) -> None:
        self.array: NDArray[np.uint8] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, fortran, data = state
        is_plain = dtype.name in ("u1", b"u1") and not fortran
        # A product of many large numbers would take long.
        if not is_plain or len(shape) > 2 or math.prod(shape) != len(data):
            raise pickle.UnpicklingError("an array is not one of whole rows of bytes")
        self.array = np.frombuffer(data, np.uint8).reshape(shape)


class _DType:
    def __init__(self, name: object = "", *_: object) -> None:
        self.name = name

    def __setstate__(self, state: object) -> None:
        """Byte order and alignment are nothing to a byte."""


class _Dict(dict[object, Any]):
    def __setitem__(self, key: object, value: Any) -> None:
        if type(key) not in (bytes, str):
            raise pickle.UnpicklingError(f"a key is not text, but of {type(key)}")
        super().__setitem__(key, value)


def _encode(text: str, encoding: str) -> bytes:
    """Return bytes as Python 3 writes them for Python 2."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it has a text in {encoding!r}")
    return text.encode("latin1")


_NAMES = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): None,  # an argument of the one above
    ("numpy", "dtype"): _DType,
    ("_codecs", "encode"): _encode,
}

_SETS = *pickle.EMPTY_SET, *pickle.ADDITEMS, *pickle.FROZENSET  # which hash what they hold


# The one in C takes any number for the size of its memo, and would fill the memory.
class _Unpickler(pickle._Unpickler):
    def refuse_set(self: Any) -> None:
        """A set that holds tuples of tuples may take forever to be made."""
        raise pickle.UnpicklingError("it holds a set")

    dispatch = pickle._Unpickler.dispatch | dict.fromkeys(_SETS, refuse_set)

    def load_empty_dictionary(self: Any) -> None:
        """Push a dictionary, as the instruction of that name does."""
        self.append(_Dict())

    def load_dictionary(self: Any) -> None:
        """Push one of the keys and values on the stack."""
        items = self.pop_mark()
        found = _Dict()
        for key, value in zip(items[::2], items[1::2], strict=True):
            found[key] = value
        self.append(found)

    dispatch[pickle.EMPTY_DICT[0]] = load_empty_dictionary
    dispatch[pickle.DICT[0]] = load_dictionary

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _NAMES:
            raise pickle.UnpicklingError(f"it would call {module}.{name}")
        return _NAMES[module, name]


def load_plain(data: bytes, name: str) -> dict[str, Any]:
    """The dictionary in a pickle, also one of Python 2; texts stay bytes, arrays are uint8."""
    try:
        content = _Unpickler(io.BytesIO(data), encoding="bytes").load()
        return {
            key.decode() if isinstance(key, bytes) else key: getattr(value, "array", value)
            for key, value in content.items()
        }
    # A damaged pickle may raise whatever its opcodes run into.
    except Exception as error:
        raise UnusableInput(
            f"{name} is not a pickle of plain containers and byte arrays: {error}. It was not run."
        ) from error
