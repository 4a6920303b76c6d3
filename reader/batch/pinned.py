"""Page-lock the ring's memory, so that a GPU copies from it asynchronously.

Guarantees: the memory is unregistered before it is unmapped, and not while an array over it exists,
so never during a copy, and never by a fork. If CUDA refuses, there is one warning, and copies are
slower.
"""

import os
import weakref
from typing import Any

from reader.batch.layout import Bytes
from reader.errors import warn


def page_lock(memory: Bytes, cuda: Any) -> bool:
    """Register `memory` while arrays over it exist, by a `CUDAHostMemory`; return its success."""
    address = memory.ctypes.data
    refused = cuda.register(address, memory.nbytes)
    if refused:
        warn(
            f"CUDA cannot page-lock the batches' {memory.nbytes / 1e6:.0f} MB of memory "
            f"({refused}). Training works, but copies to the GPU are slower and block the loop. In "
            "a container, allow locked memory: `docker run --ulimit memlock=-1 ...`.",
            RuntimeWarning,
        )
        return False
    weakref.finalize(memory, _unregister, cuda, address, os.getpid()).atexit = False
    return True


def _unregister(cuda: Any, address: int, owner: int) -> None:
    if os.getpid() == owner:
        cuda.unregister(address)
