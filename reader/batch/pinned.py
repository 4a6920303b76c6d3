"""The ring's memory page-locked, so that a GPU copies from it by itself.

Guarantees: the memory is unregistered before it is unmapped and not while an array over it exists,
so never during a copy, and not by a fork. Where CUDA refuses, one warning is given, and copies are
slower.
"""

import os
import weakref
from typing import Any

from reader.batch.layout import Bytes
from reader.errors import warn


def page_lock(memory: Bytes, cuda: Any) -> bool:
    """Register `memory` for as long as there are arrays over it; whether CUDA agreed."""
    # `cuda` is a `reader.cuda.device.CUDAHostMemory`.
    address = memory.ctypes.data
    refused = cuda.register(address, memory.nbytes)
    if refused:
        warn(
            f"CUDA does not page-lock the {memory.nbytes / 1e6:.0f} MB that batches are decoded "
            f"into ({refused}). Training works, but each copy to the GPU is slower and holds the "
            "loop up. In a container, see that it may lock memory (--ulimit memlock=-1).",
            RuntimeWarning,
        )
        return False
    weakref.finalize(memory, _unregister, cuda, address, os.getpid()).atexit = False
    return True


def _unregister(cuda: Any, address: int, owner: int) -> None:
    if os.getpid() == owner:
        cuda.unregister(address)
