"""What a prefetcher asks of the batches that it brings over, whoever makes them."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any, Protocol

from reader.batch.pinned import HostMemory


class BatchIterator(Iterator[Any], Protocol):
    """One pass over a source."""

    def is_ready(self) -> bool:
        """Whether the next call of `unmapped` would not wait."""

    def unmapped(self) -> Any:
        """The next batch, before `BatchSource.map_batch`."""


class BatchSource(Protocol):
    """Batches in memory of the host; a Loader, or an iterable as `AnyBatches` sees it."""

    @property
    def map_batch(self) -> Callable[[Any], Any] | None:
        """To be called with each batch that is on the device."""

    @property
    def image_places(self) -> Sequence[int] | None:
        """Which entries of a batch, a tuple, are images; None if that is not known."""

    @property
    def channels(self) -> int | None:
        """Of the images; None if that is not known."""

    @property
    def is_endless(self) -> bool:
        """Whether an iteration has no end, and the next one goes on where it was left."""

    def check_device(self, device: Any) -> None:
        """See that images that arrive as they are stored can be decoded there."""

    def page_lock(self, cuda: HostMemory, cores: Set[int]) -> None:
        """Page-lock the memory that batches come from, once, near these cores."""

    def __iter__(self) -> BatchIterator: ...


class AnyBatches:
    """Any iterable of batches: nothing is known of it, and it is always said to be ready."""

    map_batch = None
    image_places = None
    channels = None
    is_endless = False

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches

    def check_device(self, device: Any) -> None:
        """They are no images to be decoded."""

    def page_lock(self, cuda: HostMemory, cores: Set[int]) -> None:
        """Whose memory it is, is not known."""

    def __iter__(self) -> "_Pass":
        return _Pass(iter(self._batches))


class _Pass(Iterator[Any]):
    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches

    def is_ready(self) -> bool:
        return True

    def __next__(self) -> Any:
        return next(self._batches)

    unmapped = __next__
