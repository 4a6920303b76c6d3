"""Copy batches to the device and normalise them while the last step computes.

Guarantees: batches and errors come in the loader's order. A host batch is released after its copy
has ended, never before. A batch that was fetched ahead counts as read only when the consumer gets
it. One thread uses it. On a CPU, nothing is done ahead.
"""

import inspect
import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import torch

from reader.advice import unchangeable
from reader.checks import is_count
from reader.cuda.agreed import agreed
from reader.cuda.device import CUDAHostMemory, chosen_device, cores_of
from reader.cuda.transfer import BatchSender, Transfer
from reader.errors import ArgumentError, ReaderError
from reader.fields.seeding import Place
from reader.gpu_decode.libraries import JPEGDecoder
from reader.loader.decode_share import DecodeShare
from reader.loader.delivery import Delivery
from reader.loader.epochs import EpochIterator
from reader.loader.loader import Loader
from reader.transforms.batches.normalisation import normalisation


class CUDAPrefetcher:
    """An iterable over a loader's batches as tensors on `device`.

    uint8 tensors with three channels, (B, 3, H, W) or a list of (3, H, W), become
    ``(x / 255 - mean) / std`` in `dtype`, computed in float32; also those with one channel, if they
    are a Loader's or `mean` and `std` have one number. If `mean` and `std` are given, float images
    become ``(x - mean) / std``: those of a Loader with `map_sample`, and the float tensors of
    another iterable's batch without a uint8 image. Values far outside 0 to 1 are an ArgumentError.
    Other tensors are moved to the device, and other values are unchanged. Batches may be tuples,
    lists, dicts or dataclasses, also nested.

    A Loader's `map_batch` is called with the batch on the device. On a GPU, it runs on the stream
    of the copies: its own tensors must be complete, and it must return tensors in tuples, lists,
    dicts or dataclasses, so that they can be marked as used by the consumer's stream.

    On a GPU, batches are copied from page-locked memory where the workers wrote them, on a separate
    stream, several at once. A batch is ready for the stream that is current when it is requested.

    Example:
        >>> loader = reader.Loader("shards", batch_size=4, transforms=[reader.Resize((64, 64))])
        >>> with reader.CUDAPrefetcher(
        ...     loader, mean=reader.IMAGENET_MEAN, std=reader.IMAGENET_STD, dtype=torch.float16
        ... ) as prefetcher:
        ...     images, labels = next(iter(prefetcher))
        >>> images.shape, images.dtype
        (torch.Size([4, 3, 64, 64]), torch.float16)
    """

    __module__ = "reader"

    def __init__(
        self,
        loader: Any,
        mean: Sequence[float] | None = None,
        std: Sequence[float] | None = None,
        dtype: torch.dtype | None = None,
        device: torch.device | str | int | None = None,
        depth: int = 2,
        *,
        memory_format: torch.memory_format = torch.preserve_format,
        decoder: str | JPEGDecoder | None = None,
    ) -> None:
        """Wrap `loader`, a Loader or any other iterable of batches.

        Args:
            loader: iterated over once for every epoch.
            mean, std: numbers for each channel, or one for all, on the scale from 0 to 1; None: 0
                and 1.
            dtype: dtype of the normalised images.
            device: None for the current CUDA device (LOCAL_RANK's, if none was set), or the CPU if
                there is none.
            depth: number of batches to copy ahead of the consumer, on a GPU.
            memory_format: of batches of images; by default the loader's own, which is channels_last
                for a Loader.
            decoder: of JPEGs on the GPU, for a Loader with ``decode="gpu"`` or "auto":
                "nvimgcodec", "torchcodec", "torchvision", or your function, see
                `reader.gpu_decode.libraries.JPEGDecoder`. None: the first of these that works.

        Raises:
            ArgumentError: an argument is invalid, or contradicts the Loader's Normalize; in the
                loop, if float images to normalise are not from 0 to 1.
            ReaderError: the loader is closed, or no decoder works for ``decode="gpu"``.
        """
        if not hasattr(loader, "__iter__"):
            raise ArgumentError(f"loader is a Loader, or another iterable, not {loader!r:.200}.")
        if not is_count(depth):
            raise ArgumentError(f"depth is an integer of at least 1 batch ahead, not {depth!r}.")
        source = loader if isinstance(loader, Loader) else _AnyBatches(loader)
        mean, std, dtype, finish = agreed(source, mean, std, dtype)
        wanted = normalisation(mean, std, dtype, memory_format, source.channels)
        self.loader = loader
        self.device = chosen_device(device)
        self.depth = depth
        places, share = source.image_places, source.decode_share
        function = source.batch_function
        sender = BatchSender(self.device, wanted, function, places, decoder, share, finish)
        if self.device.type == "cuda" or decoder is not None:
            source.use_decoder(self.device, decoder)
        if self.device.type == "cuda":
            source.page_lock(CUDAHostMemory(self.device), cores_of(self.device))
        self._source = source
        self._copies = _CopyQueue(sender, depth if sender.runs_ahead else 0)
        self._running: Iterator[Any] | None = None
        self._width: int | None = len(getattr(loader, "fields", (None, None)))
        self._is_made = True

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        return _Epoch(self.loader, self._source, self._copies)

    def __getattr__(self, name: str) -> Any:
        """Return other attributes from the loader: `dataset`, `set_epoch`, `sampler`, ..."""
        if name == "loader" or name.startswith("_"):  # before it is set, and private ones
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.loader, name)

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse arguments once it is made; set what another library's loader has there."""
        if "_is_made" in vars(self) and not name.startswith("_"):
            if name in _ARGUMENTS:
                raise unchangeable("CUDAPrefetcher", name, value)
            if isinstance(self.loader, Loader):
                self.loader.check_settable(name, value)
            elif hasattr(self.loader, name):
                setattr(self.loader, name, value)
                return
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        ahead = f"{self.depth} batches ahead" if self.device.type == "cuda" else "none ahead"
        return f"<{type(self).__name__} on {self.device}, {ahead}, of {self.loader!r}>"

    def __enter__(self) -> "CUDAPrefetcher":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def next(self) -> Any:
        """Return the next batch, as apex's data_prefetcher does: Nones at the end of the epoch.

        The call after it begins the next epoch.
        """
        if self._running is None:
            self._running = iter(self)
        try:
            batch = next(self._running)
        except StopIteration:
            self._running = None
            return None if self._width is None else (None,) * self._width
        if not isinstance(batch, (tuple, list)):
            self._width = None
            return batch
        self._width = len(batch)
        return tuple(batch)

    def state_dict(self) -> Any:
        """Return the loader's state at the last batch that the consumer got.

        Raises:
            ReaderError: the loader has no state_dict.
        """
        self._check_has("state_dict")
        if self._copies.state is None or self.loader.state_dict() != self._copies.seen:
            return self.loader.state_dict()
        return self._copies.state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Make the next iteration continue from `state`.

        Raises:
            ReaderError: the loader has no load_state_dict.
        """
        self._check_has("load_state_dict")
        self._running = None
        self.loader.load_state_dict(state)
        self._copies.state = None

    def _check_has(self, name: str) -> None:
        if not hasattr(self.loader, name):
            raise ReaderError(
                f"A {type(self.loader).__name__} cannot resume: it has no {name}. Use a "
                "reader.Loader."
            )

    def close(self) -> None:
        """Release the batches fetched ahead and the loader's memory; the loader stays open."""
        self._running = None
        _wait_for(self._copies.held)


_ARGUMENTS = inspect.signature(CUDAPrefetcher).parameters.keys()


@dataclass(eq=False)
class _CopyQueue:
    sender: BatchSender
    ahead: int  # batches to copy ahead
    held: deque[tuple[Any, Transfer]] = field(default_factory=deque)
    state: Any = None  # the loader's, at the consumer's last batch; None: the current one
    fetched: Any = None  # the loader's, at the last fetched batch
    seen: Any = (
        None  # the loader's, when the consumer got its last batch; another one was set since
    )

    def __post_init__(self) -> None:
        # Unreferenced batches may be unmapped, but not before their copies end.
        weakref.finalize(self, _wait_for, self.held).atexit = False

    def is_moved(self, loader: Any) -> bool:
        """Whether the loader's position was set after the last fetch, such as by `set_epoch`."""
        return isinstance(loader, Loader) and loader.state_dict() != self.fetched

    def send(self, host: Any, place: Place | None, positions: Any) -> Transfer:
        # If it fails, no copy of the batch is left running.
        transfer = self.sender.send(host, place, positions)
        if self.ahead:
            self.held.append((host, transfer))
        return transfer

    def recycle(self) -> None:
        """Release the host batches whose copies have ended."""
        # Waiting for older copies blocks nothing, and limits the memory.
        while self.held and self.held[0][1].is_over():
            self.held.popleft()
        _wait_for(self.held, leave=self.ahead + 1)


def _wait_for(held: deque[tuple[Any, Transfer]], leave: int = 0) -> None:
    """Wait for the oldest copies until no more than `leave` are left."""
    while len(held) > leave:
        held[0][1].wait()
        held.popleft()


class _Epoch(Iterator[Any]):
    def __init__(self, loader: Any, source: "Loader | _AnyBatches", copies: _CopyQueue) -> None:
        self._loader = loader
        self._copies = copies
        if source.is_endless and copies.state is not None and not copies.is_moved(loader):
            loader.load_state_dict(copies.state)  # fetch unconsumed batches again
        self._batches: Iterator[Any] = iter(source)
        self._has_state = hasattr(loader, "state_dict")
        self._is_at_end = False
        self._queue: deque[tuple[Transfer, Any] | Exception] = deque()
        copies.state = copies.fetched = copies.seen = self._state()

    def __next__(self) -> Any:
        self._copies.recycle()
        for _ in range(2):  # one for the delivered batch, and one to get further ahead
            if not self._is_at_end and len(self._queue) <= self._copies.ahead:
                self._fetch()
        if not self._queue:
            self._copies.state = None
            raise StopIteration
        first = self._queue.popleft()
        if isinstance(first, Exception):
            raise first
        transfer, state = first
        batch = transfer.take()
        self._copies.state, self._copies.seen = state, self._state()
        return batch

    def _fetch(self) -> None:
        """Send the next batch, unless it is not ready and another one is queued."""
        try:
            if isinstance(self._batches, EpochIterator):
                if self._queue and not self._batches.is_ready():
                    return
                host = self._batches.raw()  # `map_batch` is called on the device
                place: Place | None = self._batches.place
                positions: Any = self._batches.positions
            else:
                host, place, positions = next(self._batches), None, None
            self._copies.fetched = self._state()
            transfer = self._copies.send(host, place, positions)
            self._queue.append((transfer, self._copies.fetched))
        except StopIteration:
            self._is_at_end = True
        except Exception as error:
            self._queue.append(error)

    def _state(self) -> Any:
        return self._loader.state_dict() if self._has_state else None


class _AnyBatches:
    """Adapts any iterable of batches to the interface of a Loader."""

    batch_function = image_places = channels = None
    delivery: Delivery | None = None
    is_endless = is_delivered = False

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches
        self.decode_share = DecodeShare("cpu")

    def use_decoder(self, device: Any, wanted: Any) -> None:
        """Do nothing: `EncodedImages` among the batches choose the decoder."""

    def page_lock(self, cuda: Any, cores: Set[int]) -> None:
        """Do nothing: the owner of the memory is unknown."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self._batches)
