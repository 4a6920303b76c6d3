"""Any iterable of batches, with what a prefetcher asks of a Loader."""

from collections.abc import Iterable, Iterator, Set
from typing import Any

from reader.batch.pinned import HostMemory


class AnyBatches:
    map_batch = image_places = channels = None
    is_endless = False

    def __init__(self, batches: Iterable[Any]) -> None:
        self._batches = batches

    def check_device(self, device: Any) -> None:
        """Accept any device: these are no images to be decoded."""

    def page_lock(self, cuda: HostMemory, cores: Set[int]) -> None:
        """Leave the memory as it is: its owner is not known."""

    def __iter__(self) -> "Pass":
        return Pass(iter(self._batches))


class Pass(Iterator[Any]):
    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches

    def is_ready(self) -> bool:
        return True

    def __next__(self) -> Any:
        return next(self._batches)

    unmapped = __next__
