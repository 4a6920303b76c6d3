"""The set-up of workers in an anonymous file: pickled once, and mapped by all of them.

::

    8 bytes: the size of the head
    head: a pickle of `sys.path` and the sizes of what follows
    the pickled `Setup`, then the bytes of large arrays and tensors (PEP 574), each in pages of
    its own

A worker maps the file privately: all workers share its memory, and what one of them writes into an
array is a copy of its own.
"""

import gc
import mmap
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from io import BytesIO, FileIO
from typing import TYPE_CHECKING, Any

import numpy as np

from reader.batch.ring import unnamed_file
from reader.workers.messages import Setup, parse

if TYPE_CHECKING:
    import torch

_LARGE = 1 << 16  # bytes of an array that is not in the pickle
_PAGE = 4096
_SIZE = 8


def write(setup: Setup) -> FileIO:
    """Write the set-up and `sys.path` to a file; a socket would not hold them."""
    content, buffers = _pickled(setup)
    parts = [content, *buffers]
    sizes = [part.nbytes for part in parts]
    head = pickle.dumps((sys.path, sizes))
    starts = [*_starts(_SIZE + len(head), sizes)]
    file = FileIO(unnamed_file(starts[-1] + sizes[-1]), "wb")
    try:
        _fill(file, 0, memoryview(len(head).to_bytes(_SIZE, "little") + head))
        for start, part in zip(starts, parts, strict=True):
            _fill(file, start, part)
    except BaseException:
        file.close()
        raise
    return file


def read(descriptor: int) -> Setup:
    """Return the set-up of this worker, after `sys.path` is set, and close the descriptor."""
    mapped = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY))
    os.close(descriptor)
    end = _SIZE + int.from_bytes(mapped[:_SIZE], "little")
    modules, sizes = parse(mapped[_SIZE:end], (tuple,))
    sys.path[:] = modules
    starts = _starts(end, sizes)
    parts = [mapped[at : at + size] for at, size in zip(starts, sizes, strict=True)]
    gc.disable()  # a large dict would be searched for garbage again and again while it is made
    try:
        setup = parse(parts[0], (Setup,), parts[1:])
    finally:
        gc.enable()
    gc.freeze()  # it lives as long as the worker
    return setup


def _starts(end: int, sizes: Sequence[int]) -> Iterator[int]:
    for size in sizes:
        start = end + -end % _PAGE
        yield start
        end = start + size


def _fill(file: FileIO, start: int, content: memoryview) -> None:
    file.seek(start)
    while content:
        content = content[file.write(content) :]


def _pickled(setup: Setup) -> tuple[memoryview, list[memoryview]]:
    """Return the pickle, and the bytes that are not in it."""
    import cloudpickle  # only here: workers should start fast, and need no torch
    import torch

    buffers: list[memoryview] = []

    def is_inside(buffer: pickle.PickleBuffer) -> bool:
        content = buffer.raw()
        if content.nbytes < _LARGE:
            return True
        buffers.append(content)
        return False

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # it has no types
        dispatch_table = cloudpickle.Pickler.dispatch_table.new_child({torch.Tensor: _reduced})

    file = BytesIO()
    Pickler(file, 5, buffer_callback=is_inside).dump(setup)
    return file.getbuffer(), buffers


def _reduced(tensor: "torch.Tensor") -> Any:
    """Pickle a large tensor of plain numbers as a buffer, and others as torch does."""
    import torch

    is_plain = (
        type(tensor) is torch.Tensor
        and tensor.device.type == "cpu"
        and tensor.layout is torch.strided
        and tensor.is_contiguous()
        and not (tensor.requires_grad or tensor.is_quantized or vars(tensor))
        and not (tensor.is_conj() or tensor.is_neg())
    )
    if not is_plain or tensor.numel() * tensor.element_size() < _LARGE:
        return tensor.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    content = tensor.flatten().view(torch.uint8).numpy()
    return _tensor, (content, tensor.dtype, tuple(tensor.shape))


def _tensor(
    content: "np.ndarray[Any, np.dtype[np.uint8]]", kind: "torch.dtype", shape: tuple[int, ...]
) -> "torch.Tensor":
    import torch

    return torch.from_numpy(content).view(kind).reshape(shape)
