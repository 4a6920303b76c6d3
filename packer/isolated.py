"""Calls a function on items that may be hostile, always in processes of their own."""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from packer.processes import map_unordered
from packer.progress import Advance

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Crashed(Generic[Item]):
    """An item at which a fault ended the process, and which: "Segmentation fault (signal 11)"."""

    item: Item
    cause: str


def map_isolated(
    function: Callable[[Item, Advance], Result],
    items: Iterable[Item],
    processes: int,
    advance: Advance,
    place: Callable[[Item], str],
    single: Callable[[Item], Iterable[Item]],
    load: Sequence[str] = (),
) -> Generator[Result | Crashed[Item], None, None]:
    """Yield as `map_unordered` does, of items that may be hostile.

    An item at which a fault ended the process is divided by `single`, and each of its parts is done
    separately, so that the one that crashes is named. Where none of them does, the item is.
    """
    crashes: list[Crashed[Item]] = []
    died: Callable[[Item, str], Result | Crashed[Item]] = Crashed
    for result in map_unordered(function, items, processes, advance, place, died, load):
        if isinstance(result, Crashed):
            crashes.append(result)
        else:
            yield result
    for crash in crashes:
        is_named, parts = False, single(crash.item)
        for result in map_unordered(function, parts, processes, lambda _: None, place, died, load):
            is_named |= isinstance(result, Crashed)
            yield result
        if not is_named:
            yield crash
