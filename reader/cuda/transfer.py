"""The way to a device: copy and normalise batches, on a GPU beside the consumer's work.

Purpose: have the next batches on the device by the time the consumer asks for them.

Guarantees: the same values on every device, bit for bit in float32 unless the GPU decodes them. On
a GPU all is queued on one side stream and nothing here waits for it, but torchvision's decoder for
what it decodes (see `reader.gpu_decode.nvjpeg`). What `Transfer.take` gives is complete on the
stream that is current then, and its memory serves no other batch before that stream is through with
it. Raw pixels and constants are allocated, used and freed in the order of the side stream, so the
caching allocator uses them again without further ado. No CUDA context is made on any other device.

Assumptions: used by one thread. The caller keeps a batch until `Transfer.is_over`. Tensors that are
on the GPU already were made on its current stream.
"""

import functools
from collections.abc import Callable, Container, Sequence
from itertools import chain
from typing import Any

import torch

from reader.batch.nested import leaves, map_leaves, sequences
from reader.cuda.normalisation import Normalisation, check_scale
from reader.errors import called
from reader.gpu_decode.images import EncodedImages

MapBatch = Callable[[Any], Any]


class Transfer:
    """A batch that is on its device."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def is_over(self) -> bool:
        """Whether the host's batch is needed no more."""
        return True

    def wait(self) -> None:
        """Wait until it is not."""

    def take(self) -> Any:
        """The batch, once, for use on the current stream."""
        batch, self._batch = self._batch, None
        return batch


class Lane:
    """The way to a device without streams: the CPU, MPS."""

    runs_ahead = False

    def __init__(
        self,
        device: torch.device,
        normalisation: Normalisation,
        map_batch: MapBatch | None,
        places: Sequence[int] | None,
    ) -> None:
        self.device = device
        self._normalisation = normalisation
        self._map_batch = map_batch
        self._places = places
        self._scale, self._byte_scale = (
            tuple(
                (torch.tensor(values, dtype=torch.float32).reshape(-1, 1, 1) * most).to(device)
                for values in (normalisation.mean, normalisation.std)
            )
            for most in (1, 255)
        )

    def send(self, batch: Any) -> Transfer:
        """Bring the tensors of `batch` to the device, images normalised; there it is mapped."""
        return Transfer(self._sent(batch, self._to_device))

    def _sent(self, batch: Any, to_device: Callable[[torch.Tensor], torch.Tensor]) -> Any:
        """`batch` as the consumer gets it, its tensors brought over by `to_device`."""
        found = list(images_of(batch, self._places, self._normalisation))
        for image in found:
            if image.is_floating_point():  # one of a batch is enough to see the scale
                check_scale(image[(0,) * (image.dim() - 3)])
        images = {id(image) for image in found}

        def send(leaf: Any) -> Any:
            if isinstance(leaf, EncodedImages):
                return self._normalised(leaf.decode(self.device))
            if not isinstance(leaf, torch.Tensor):
                return leaf
            moved = to_device(leaf)
            return self._normalised(moved) if id(leaf) in images else moved

        sent = map_leaves(batch, send)
        return sent if self._map_batch is None else called("map_batch", self._map_batch, sent)

    def _to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device)

    def _normalised(self, raw: torch.Tensor) -> torch.Tensor:
        dtype, layout = self._normalisation.dtype, self._normalisation.memory_format
        if raw.dim() != 4 and layout == torch.channels_last:
            layout = torch.preserve_format  # only batches of images have channels to be last
        mean, std = self._scale if raw.is_floating_point() else self._byte_scale
        exact = torch.empty_like(raw, dtype=torch.float32, memory_format=layout)
        # Two kernels in all: the dtypes are converted where they are read and written. Each is one
        # correctly rounded operation, which a GPU and a CPU do alike; a fused one would differ.
        torch.sub(raw, mean, out=exact)
        result = exact if dtype == torch.float32 else torch.empty_like(exact, dtype=dtype)
        return torch.div(exact, std, out=result)


class StreamTransfer(Transfer):
    """A batch on its way to a GPU; `event` is behind it on the side stream."""

    def __init__(self, batch: Any, event: torch.cuda.Event, device: torch.device) -> None:
        super().__init__(batch)
        self._event = event
        self._device = device

    def is_over(self) -> bool:
        """Whether the copy has ended; asks, and does not wait."""
        with torch.cuda.device(self._device):
            return self._event.query()

    def wait(self) -> None:
        with torch.cuda.device(self._device):
            self._event.synchronize()

    def take(self) -> Any:
        """The batch, once; the current stream waits for it, the caller does not."""
        batch = super().take()
        with torch.cuda.device(self._device):
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(self._event)

        for leaf in leaves(batch):
            # Else its memory would be the side stream's again as soon as the consumer drops it,
            # with kernels that read it still in the queue.
            if isinstance(leaf, torch.Tensor) and leaf.is_cuda:
                leaf.record_stream(stream)
        return batch


class StreamLane(Lane):
    """The way to a GPU, by a side stream."""

    runs_ahead = True

    def __init__(self, device: torch.device, *options: Any) -> None:
        # The device is made current first: `torch.cuda.stream` alone would on leaving select the
        # device that was current before, and thereby make a context there.
        with torch.cuda.device(device):
            self._stream = _side_stream(device)
            with torch.cuda.stream(self._stream):  # on which the constants are used and freed
                super().__init__(device, *options)

    def send(self, batch: Any) -> Transfer:
        """Queue the copies from page-locked memory, and the arithmetic behind them."""
        with torch.cuda.device(self.device):
            consumer = torch.cuda.current_stream(self.device)

            def to_device(tensor: torch.Tensor) -> torch.Tensor:
                if tensor.device == self.device:  # made on the consumer's stream, so read after it
                    self._stream.wait_stream(consumer)
                return tensor.to(self.device, non_blocking=True)

            with torch.cuda.stream(self._stream):
                try:
                    result = self._sent(batch, to_device)
                    event = torch.cuda.Event()
                    event.record(self._stream)
                except BaseException:
                    self._stream.synchronize()  # nobody will know of the copies that are queued
                    raise
            return StreamTransfer(result, event, self.device)


@functools.cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One for all prefetchers: the allocator keeps the memory of each stream apart for good."""
    return torch.cuda.Stream(device)


def images_of(
    batch: Any, places: Sequence[int] | None, normalisation: Normalisation
) -> list[torch.Tensor]:
    """The tensors of a batch that are images: (..., C, H, W), uint8 or float.

    uint8 of four dimensions is an image everywhere; of three where images are, or in a list or
    tuple of nothing else in a batch of which that is not known: elsewhere it may be the masks of
    three samples. Floats are images where images are; in other batches if no uint8 is one.
    """
    named = [batch] if places is None else [batch[at] for at in places]
    images = _with_channels(batch, named, normalisation.channels, {torch.uint8})
    if normalisation.has_floats and (places is not None or not images):
        images += _with_channels(named, named, normalisation.channels, _FLOATS)
    return images


_FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}


def _with_channels(
    batch: Any, named: Sequence[Any], channels: Container[int], dtypes: Container[torch.dtype]
) -> list[torch.Tensor]:
    """The images of `dtypes`: of four dimensions in `batch`, of three in lists in `named`."""

    def is_image(leaf: Any) -> bool:
        is_kind = isinstance(leaf, torch.Tensor) and leaf.dtype in dtypes
        return is_kind and leaf.dim() >= 3 and leaf.shape[-3] in channels

    found = [leaf for leaf in leaves(batch) if is_image(leaf) and leaf.dim() > 3]
    for items in chain.from_iterable(map(sequences, named)):
        if all(is_image(item) and item.dim() == 3 for item in items):
            found += items
    return found
