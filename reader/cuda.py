"""Batches onto the device, normalised, while the last step still computes.

Purpose: overlap the copy and the arithmetic of the next batches with the consumer's work.

Guarantees: the same values on every device; what reaches the consumer is complete on its current
stream; a host batch is kept until its copy has ended.

Assumptions: used by one thread. On a CPU there is no stream and nothing is done ahead.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch


class CUDAPrefetcher:
    """Iterates over a loader's batches as tensors on `device`.

    uint8 tensors with three channels, (B, 3, H, W) or (3, H, W), become ``(x / 255 - mean) / std``
    in `dtype`, computed in float32; other tensors are moved, and anything else passes as it is.
    """

    def __init__(
        self,
        loader: Any,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | int | None = None,
        depth: int = 2,
    ) -> None:
        """Wrap `loader`, which is a Loader or any other iterable of batches.

        Args:
            loader: iterated over once for every epoch.
            mean, std: of each channel, on the scale from 0 to 1; None: 0 and 1.
            dtype: of the images.
            device: None for the current CUDA device, or the CPU where there is none.
            depth: batches on their way ahead of the consumer, on a GPU.
        """
        if device is None:
            device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        elif isinstance(device, int):
            device = torch.device("cuda", device)
        self.loader = loader
        self.device = torch.device(device)
        self.depth = depth
        self._dtype = dtype
        shape = (3, 1, 1)
        self._mean = torch.tensor(mean or (0.0,) * 3, device=self.device).reshape(shape) * 255
        self._std = torch.tensor(std or (1.0,) * 3, device=self.device).reshape(shape) * 255
        self._running: Iterator[Any] | None = None

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        if self.device.type == "cuda":
            return self._ahead()
        return (self._convert(batch) for batch in self.loader)

    def next(self) -> tuple[Any, ...]:
        """The next batch, as apex's data_prefetcher gives it: Nones at the end of the epoch.

        The call after that begins the next epoch.
        """
        if self._running is None:
            self._running = iter(self)
        batch = next(self._running, None)
        if batch is None:
            self._running = None
            return (None,) * len(getattr(self.loader, "fields", (None, None)))
        return tuple(batch)

    def _ahead(self) -> Iterator[Any]:
        """Copy and convert on a side stream, `depth` batches ahead."""
        side = torch.cuda.Stream(self.device)
        under_way: deque[tuple[Any, Any, torch.cuda.Event]] = deque()
        source = iter(self.loader)
        while True:
            while len(under_way) < self.depth and (host := next(source, None)) is not None:
                with torch.cuda.stream(side):
                    ready = self._convert(host)
                    event = torch.cuda.Event()
                    event.record(side)
                under_way.append((host, ready, event))
            if not under_way:
                return
            host, ready, event = under_way.popleft()
            current = torch.cuda.current_stream(self.device)
            current.wait_event(event)
            _each_tensor(ready, partial(_used_on, current))
            event.synchronize()  # the copy has ended, so the host batch may go
            del host
            yield ready

    def _convert(self, batch: Any) -> Any:
        return _each_tensor(batch, self._convert_tensor)

    def _convert_tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.to(self.device, non_blocking=True)
        if tensor.dtype != torch.uint8 or tensor.dim() < 3 or tensor.shape[-3] != 3:
            return tensor
        return tensor.to(torch.float32).sub_(self._mean).div_(self._std).to(self._dtype)


def _used_on(stream: torch.cuda.Stream, tensor: torch.Tensor) -> None:
    """Tell the allocator that `stream` uses the tensor, so that it is not given away before."""
    tensor.record_stream(stream)


def _each_tensor(batch: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """`batch` with `change` applied to every tensor in its tuples, lists and dicts."""
    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, dict):
        return {name: _each_tensor(value, change) for name, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_each_tensor(value, change) for value in batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(_each_tensor(value, change) for value in batch)
    return batch
