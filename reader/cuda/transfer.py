"""Copy batches to a device and normalise them, on a GPU in parallel with the consumer's work.

Guarantees: values are the same on every device, bit for bit in float32, unless the GPU decodes. On
a GPU, all work is queued on one side stream, and nothing blocks the caller: torchvision's decoder
waits for the GPU (see `reader.gpu_decode.nvjpeg`), so batches with JPEGs are sent by one thread of
the sender, in their order. Results of `Transfer.take` are complete on the current stream, and their
memory is not reused before that stream has finished with it. No CUDA context is made on any other
device.

Assumptions: one caller's thread; the caller keeps a batch until `Transfer.is_over`; tensors that
are already on the GPU were made on its current stream.
"""

import contextlib
import functools
import time
from collections.abc import Callable, Container, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any

import torch

from reader.batch.nested import leaves, map_leaves, sequences
from reader.cuda.normalisation import Normalisation, check_scale
from reader.fields.seeding import BatchFunction, OtherThread, Place
from reader.gpu_decode.images import EncodedImages
from reader.gpu_decode.libraries import JPEGDecoder
from reader.loader.decode_share import DecodeShare


class Transfer:
    """A batch that is being sent to a device; on a GPU, `event` follows it on the side stream."""

    def __init__(
        self,
        batch: Any,
        event: torch.cuda.Event | None = None,
        device: torch.device | None = None,
    ) -> None:
        self._batch = batch
        self._event = event
        self._device = device

    def is_over(self) -> bool:
        """Whether the host's batch is no longer needed; does not block."""
        if self._event is None:
            return True
        with torch.cuda.device(self._device):
            return self._event.query()

    def wait(self) -> None:
        if self._event is not None:
            with torch.cuda.device(self._device):
                self._event.synchronize()

    def take(self) -> Any:
        """Return the batch, once; the current stream waits for it, the caller does not."""
        batch, self._batch = self._batch, None
        if self._event is None:
            return batch
        with torch.cuda.device(self._device):
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(self._event)
        for leaf in leaves(batch):
            # Otherwise the side stream would reuse its memory as soon as the consumer drops it,
            # while kernels that read it are still queued.
            if isinstance(leaf, torch.Tensor) and leaf.is_cuda:
                leaf.record_stream(stream)
        return batch


class DecodingTransfer(Transfer):
    """A batch that a thread decodes and sends; its error is raised by `take`."""

    def __init__(self, sent: "Future[Transfer]", share: DecodeShare) -> None:
        self._sent = sent
        self._share = share

    def is_over(self) -> bool:
        return self._sent.done() and (bool(self._sent.exception()) or self._sent.result().is_over())

    def wait(self) -> None:
        if not self._sent.exception():
            self._sent.result().wait()

    def take(self) -> Any:
        began = time.perf_counter()
        transfer = self._sent.result()
        self._share.waited(time.perf_counter() - began)
        return transfer.take()


class BatchSender:
    """Sends batches to a device: to a GPU by a side stream, to the CPU or MPS without one."""

    def __init__(
        self,
        device: torch.device,
        normalisation: Normalisation,
        map_batch: BatchFunction | None,
        places: Sequence[int] | None,
        decoder: str | JPEGDecoder | None,
        share: DecodeShare,
    ) -> None:
        self.device = device
        self._decoder = decoder
        self._share = share
        self._normalisation = normalisation
        self._map_batch = map_batch
        self._places = places
        self._stream = None
        self._decoding = ThreadPoolExecutor(1, "decode")  # starts no thread before it is used
        with contextlib.ExitStack() as current:
            if device.type == "cuda":
                # The device is made current first: at its end, `torch.cuda.stream` would select
                # the previous device, and so make a context there.
                current.enter_context(torch.cuda.device(device))
                self._stream = _side_stream(device)
                # The constants are used and freed on this stream.
                current.enter_context(torch.cuda.stream(self._stream))
            self._scale, self._byte_scale = (
                tuple(
                    (torch.tensor(values, dtype=torch.float32).reshape(-1, 1, 1) * most).to(device)
                    for values in (normalisation.mean, normalisation.std)
                )
                for most in (1, 255)
            )

    @property
    def runs_ahead(self) -> bool:
        return self.device.type == "cuda"

    def send(self, batch: Any, place: Place | None = None) -> Transfer:
        """Copy `batch` to the device, normalise and map it; queued on a GPU.

        What `map_batch` draws depends on its `place`. A user's function on the sender's thread is
        the exception: the process's generators cannot be seeded and put back there while the caller
        draws from them.
        """
        stream = self._stream
        if stream is None:
            return Transfer(self._sent(batch, lambda tensor: tensor.to(self.device), place))
        with torch.cuda.device(self.device):
            consumer = torch.cuda.current_stream(self.device)
        if any(isinstance(leaf, EncodedImages) for leaf in leaves(batch)):
            apart = place and OtherThread(*place)
            sent = self._decoding.submit(self._queue, batch, stream, consumer, apart)
            return DecodingTransfer(sent, self._share)
        return self._queue(batch, stream, consumer, place)

    def _queue(
        self,
        batch: Any,
        stream: torch.cuda.Stream,
        consumer: torch.cuda.Stream,
        place: Place | None,
    ) -> Transfer:
        with torch.cuda.device(self.device):

            def to_device(tensor: torch.Tensor) -> torch.Tensor:
                if tensor.device == self.device:  # made on the consumer's stream, so read after it
                    stream.wait_stream(consumer)
                return tensor.to(self.device, non_blocking=True)

            with torch.cuda.stream(stream):
                try:
                    result = self._sent(batch, to_device, place)
                    event = torch.cuda.Event()
                    event.record(stream)
                except BaseException:
                    stream.synchronize()  # wait for copies that are already queued
                    raise
            return Transfer(result, event, self.device)

    def _sent(
        self, batch: Any, to_device: Callable[[torch.Tensor], torch.Tensor], place: Place | None
    ) -> Any:
        found = list(images_of(batch, self._places, self._normalisation))
        for image in found:
            if image.is_floating_point():  # one image of a batch shows the scale
                check_scale(image[(0,) * (image.dim() - 3)])
        images = {id(image) for image in found}

        def send(leaf: Any) -> Any:
            if isinstance(leaf, EncodedImages):
                return self._normalised(self._decoded(leaf))
            if not isinstance(leaf, torch.Tensor):
                return leaf
            moved = to_device(leaf)
            return self._normalised(moved) if id(leaf) in images else moved

        sent = map_leaves(batch, send)
        return sent if self._map_batch is None else self._map_batch(sent, place)

    def _decoded(self, images: EncodedImages) -> torch.Tensor:
        began = time.perf_counter()
        decoded = images.queue(self.device, self._decoder)
        if self._stream is None:
            self._share.waited(time.perf_counter() - began)
        elif self._share.is_measuring:
            self._stream.synchronize()
        self._share.decoded(images.encoded, time.perf_counter() - began)
        return decoded

    def _normalised(self, raw: torch.Tensor) -> torch.Tensor:
        dtype, layout = self._normalisation.dtype, self._normalisation.memory_format
        if raw.dim() != 4 and layout == torch.channels_last:
            layout = torch.preserve_format  # channels_last needs a batch of images
        mean, std = self._scale if raw.is_floating_point() else self._byte_scale
        exact = torch.empty_like(raw, dtype=torch.float32, memory_format=layout)
        # Two kernels in total, which also convert dtypes. Each is one correctly rounded operation,
        # with equal results on a GPU and a CPU; a fused one would differ.
        torch.sub(raw, mean, out=exact)
        result = exact if dtype == torch.float32 else torch.empty_like(exact, dtype=dtype)
        return torch.div(exact, std, out=result)


@functools.cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """Return one stream for all prefetchers: the allocator never shares memory between streams."""
    return torch.cuda.Stream(device)


def images_of(
    batch: Any, places: Sequence[int] | None, normalisation: Normalisation
) -> list[torch.Tensor]:
    """Return the tensors of a batch that are images: (..., C, H, W), uint8 or float.

    uint8 of four dimensions is one everywhere; of three only where images are, or in a list of
    nothing else. Floats are images where images are; in other batches if no uint8 is one.
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
    """Return the images of `dtypes`: of 4 dimensions in `batch`, of 3 in lists in `named`."""

    def is_image(leaf: Any) -> bool:
        is_kind = isinstance(leaf, torch.Tensor) and leaf.dtype in dtypes
        return is_kind and leaf.dim() >= 3 and leaf.shape[-3] in channels

    found = [leaf for leaf in leaves(batch) if is_image(leaf) and leaf.dim() > 3]
    for items in chain.from_iterable(map(sequences, named)):
        if all(is_image(item) and item.dim() == 3 for item in items):
            found += items
    return found
