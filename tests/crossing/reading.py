"""What a way to read does, and what it is expected to yield."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crossing.fields import Field
from crossing.judge import rows_of
from crossing.world import World
from reader import EncodedImages, Loader

Rows = Iterator[dict[str, Any]]
Given = Mapping[str, Any]


@dataclass
class Reading:
    """A reading of a dataset: its fields, its transforms, and what is expected of it."""

    world: World
    field: Field
    transforms: Sequence[Any]
    expected: Counter[int] | None = None  # how often each sample comes; None: any

    def __post_init__(self) -> None:
        self.expected = Counter(scene.number for scene in self.world.scenes)

    @property
    def names(self) -> tuple[str, ...]:
        return self.field.names(self.world)

    def loader(self, dataset: Any, **given: Any) -> Loader:
        fields = self.field.fields(self.world)
        named = {} if fields is None else {"fields": fields}
        usual = {"batch_size": 4, "workers": 0, "transforms": self.transforms}
        return Loader(dataset, **{**usual, **named, **given})

    def epoch(self, dataset: Any, shown: int = 1, **given: Any) -> Rows:
        """Yield the samples of an epoch, each as often as its views are `shown`."""
        with self.loader(dataset, **given) as loader:
            yield from self.rows(loader, shown)

    def rows(self, batches: Iterable[Any], views: int = 1) -> Rows:
        for batch in batches:
            ready = [one.decode() if isinstance(one, EncodedImages) else one for one in batch]
            yield from rows_of(ready, self.names, views)

    def expect(self, times: int) -> None:
        assert self.expected is not None
        self.expected = Counter({number: times * n for number, n in self.expected.items()})


@dataclass(frozen=True)
class Loading:
    """A way to read.

    Attributes:
        read: yields the samples.
        is_of_loader: whether it has a Loader's fields and transforms; else images and labels.
        needs: what the source must give; `without`: the options of packing that it has not.
        may_be_black: whether a sample that cannot be read is a black image.
    """

    read: Callable[[Reading], Rows]
    is_of_loader: bool = True
    needs: str | None = None
    may_be_black: bool = False
