"""How the package's inner loops are compiled: by numba, as they are imported."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numpy.typing import NDArray

from packer.images.tiling.cache import kept

Array = NDArray[Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])


# No index leaves its array, and other threads go on meanwhile.
_HOW: Any = {"nogil": True, "boundscheck": True}


def kernel(signature: str) -> Callable[[_Function], _Function]:
    """Compile a function for arguments of these types, or load what was compiled before."""

    def compiled(function: _Function) -> _Function:
        with kept() as is_kept:
            how: Any = numba.njit(signature, cache=is_kept, **_HOW)
            return cast(_Function, how(function))

    return compiled


def helper(function: _Function) -> _Function:
    """Compile a function within those that call it: loading them loads it."""
    return cast(_Function, numba.njit(function, **_HOW))
