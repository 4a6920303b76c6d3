"""Decode JPEGs on the GPU with torchvision.

Guarantees: results are complete on the current stream, and no memory that queued work still uses is
written to.

Assumptions: torchvision decodes on its own stream and waits for it before it returns. It does not
wait for the current stream before it writes to memory that it allocated there. So it is called with
a current stream on which only its results are allocated, and these are marked as used by the
caller's. torch reuses 32 streams, so other code may get this one: the call waits for it.
torchvision keeps one decoder in a process and leaks it when the device changes, so a process should
decode on one GPU.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import simplejpeg
import torch
from torch import Tensor

from reader.errors import ReaderError


def decode(jpegs: list[Tensor], device: torch.device) -> list[Tensor]:
    """Decode `jpegs`, uint8 (N,) on the CPU, to uint8 (3, H, W) on the GPU `device`."""
    run = _decoder()
    with torch.cuda.device(device):
        consumer, own = torch.cuda.current_stream(device), _own_stream(device)
        if not own.query():
            own.synchronize()
        with torch.cuda.stream(own):
            images: list[Tensor] = run(jpegs, device)
        consumer.wait_stream(own)
        for image in images:
            image.record_stream(consumer)
    return images


def require(device: torch.device) -> None:
    sample = simplejpeg.encode_jpeg(np.zeros((16, 16, 3), np.uint8))
    try:
        decode([torch.frombuffer(bytearray(sample), dtype=torch.uint8)], device)
    except (RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise ReaderError(
            'decode="gpu" needs torchvision 0.20 or newer with nvJPEG, from a build for CUDA; the '
            f'installed one cannot decode here: {error}. Install it, or leave decode="gpu" out.'
        ) from error


@functools.cache
def _decoder() -> Callable[[list[Tensor], torch.device], Any]:
    try:
        from torchvision.io import ImageReadMode, decode_jpeg
    except (ImportError, RuntimeError) as error:  # RuntimeError: made for another torch
        raise ReaderError(
            f'decode="gpu" needs torchvision in the version for torch {torch.__version__} '
            f"({error}). Run `pip install torchvision`."
        ) from error
    return lambda jpegs, device: decode_jpeg(jpegs, mode=ImageReadMode.RGB, device=device)


@functools.cache
def _own_stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)
