"""The keys or names of a dataset's samples as a sequence that holds none of them."""

from collections.abc import Callable, Sequence
from typing import Literal, overload

from reader.dataset.shard import Shard

_SHOWN = 3  # where they are printed


class Texts(Sequence[str]):
    """The text of each sample in a column of its shard's index, read as it is asked for."""

    def __init__(
        self, column: Literal["key", "name"], count: int, locate: Callable[[int], tuple[Shard, int]]
    ) -> None:
        """Take what `Dataset.locate` is, over `count` samples."""
        self._column = column
        self._count = count
        self._locate = locate

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:_SHOWN])) + ", ..." * (len(self) > _SHOWN)
        return f"<{self._column}s ({len(self):,}): {shown}>"

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        shard, row = self._locate(number)
        return shard.index.key(row) if self._column == "key" else shard.index.name(row)
