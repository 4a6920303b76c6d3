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
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch

from reader.batch.nested import leaves, map_leaves
from reader.fields.seeding import BatchFunction, OtherThread, Place
from reader.gpu_decode.images import EncodedImages
from reader.gpu_decode.libraries import JPEGDecoder
from reader.loader.decode_share import DecodeShare
from reader.loader.images import images_of
from reader.transforms.batches.normalisation import Normalisation, Normaliser, check_scale


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


Finish = Callable[[Any, Any], None]  # changes a normalised batch, by its rows' positions


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
        finish: Finish | None = None,
    ) -> None:
        self.device = device
        self._finish = finish
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
            self._normalised = Normaliser(normalisation, device)

    @property
    def runs_ahead(self) -> bool:
        return self.device.type == "cuda"

    def send(self, batch: Any, place: Place | None = None, positions: Any = None) -> Transfer:
        """Copy `batch` to the device, normalise, finish and map it; queued on a GPU.

        What `map_batch` draws depends on its `place`. A user's function on the sender's thread is
        the exception: the process's generators cannot be seeded and put back there while the caller
        draws from them.
        """
        stream = self._stream
        if stream is None:
            moved = self._sent(batch, lambda tensor: tensor.to(self.device), place, positions)
            return Transfer(moved)
        with torch.cuda.device(self.device):
            consumer = torch.cuda.current_stream(self.device)
        if any(isinstance(leaf, EncodedImages) for leaf in leaves(batch)):
            apart = place and OtherThread(*place)
            sent = self._decoding.submit(self._queue, batch, stream, consumer, apart, positions)
            return DecodingTransfer(sent, self._share)
        return self._queue(batch, stream, consumer, place, positions)

    def _queue(
        self,
        batch: Any,
        stream: torch.cuda.Stream,
        consumer: torch.cuda.Stream,
        place: Place | None,
        positions: Any,
    ) -> Transfer:
        with torch.cuda.device(self.device):

            def to_device(tensor: torch.Tensor) -> torch.Tensor:
                if tensor.device == self.device:  # made on the consumer's stream, so read after it
                    stream.wait_stream(consumer)
                return tensor.to(self.device, non_blocking=True)

            with torch.cuda.stream(stream):
                try:
                    result = self._sent(batch, to_device, place, positions)
                    event = torch.cuda.Event()
                    event.record(stream)
                except BaseException:
                    stream.synchronize()  # wait for copies that are already queued
                    raise
            return Transfer(result, event, self.device)

    def _sent(
        self,
        batch: Any,
        to_device: Callable[[torch.Tensor], torch.Tensor],
        place: Place | None,
        positions: Any,
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
        if self._finish is not None:
            self._finish(sent, positions)
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


@functools.cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """Return one stream for all prefetchers: the allocator never shares memory between streams."""
    return torch.cuda.Stream(device)
