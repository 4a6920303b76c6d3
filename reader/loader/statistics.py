"""What a loader did, and what held it back, as a person is given it."""

from dataclasses import asdict, dataclass, fields

from reader.loader.bottleneck import bottleneck, rows_of
from reader.loader.counters import Counters, Flows
from reader.look.page import table


@dataclass(frozen=True)
class Statistics(Counters):
    """What a loader did since it was made; `since` gives what it did since an earlier look.

    Beside the counts of `Flows`, as they are now:

    Attributes:
        workers, cores: worker processes, and the cores that this process may use.
        starting: workers that cannot take tasks yet.
        slots, slot_bytes: the ring: batches it holds, and bytes of each.
        ready: batches that are complete and wait for the consumer.
        work: what the workers are for: "decode", or "splice" where the GPU decodes.
        in_flight, latency: requests to the store that are under way, and seconds of one, lately.

    Example:
        >>> transforms = [reader.Resize((64, 64))]
        >>> with reader.Loader("shards", batch_size=8, transforms=transforms) as loader:
        ...     batches = list(loader)
        ...     print(loader.statistics())
        read ... 28 samples in 4 batches, ... images/s
        ...
    """

    __module__ = "reader"

    def __str__(self) -> str:
        rows = rows_of(self)
        widest = max(len(name) for name, _ in rows)
        return "\n".join([*(f"{n:<{widest}}  {text}" for n, text in rows), self.bottleneck])

    def _repr_html_(self) -> str:
        """For notebooks."""
        return table(self.bottleneck, rows_of(self))

    def since(self, earlier: "Statistics") -> "Statistics":
        """The counts from `earlier` until now, such as those of one epoch."""
        then = asdict(earlier)
        grown = {f.name: getattr(self, f.name) - then[f.name] for f in fields(Flows)}
        return Statistics(**{**asdict(self), **grown})

    @property
    def bottleneck(self) -> str:
        """A sentence that says what holds the loop back, by what measure, and what would help."""
        return bottleneck(self)
