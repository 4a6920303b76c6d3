"""What is asked: who reads, in which order, through which cache, how fast (pure)."""

from dataclasses import dataclass, field

from reader.order.blocks import BlockShuffle


@dataclass(frozen=True)
class Known:
    """A number, and where it comes from; None: not known."""

    value: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Setting:
    """A training run.

    Attributes:
        batch_size: samples, on each rank.
        nodes: machines, each with a cache of its own.
        ranks: processes on each of them, a GPU each.
        workers: processes that decode, for each rank.
        cores: of a node, on which they decode; None: enough for any number of workers.
        shuffle: as a Loader's.
        seed: of the order.
        drop_last: as a Loader's.
        epochs: that are planned, one iteration each.
        cache_limit: bytes that a node's cache may take; None: as many as there are.
        size: (height, width) of the images that the transforms give.
        latency: seconds of a request to the store.
        bandwidth: bytes that a node gets of it in a second.
        rate: images that a node's workers decode in a second, all together.
        gpu_rate: images that a GPU takes in a second.
        vram: bytes of memory of a GPU.
    """

    batch_size: int = 256
    nodes: int = 1
    ranks: int = 1
    workers: int = 1
    cores: int | None = None
    shuffle: bool | BlockShuffle = True
    seed: int = 0
    drop_last: bool = False
    epochs: int = 2
    cache_limit: int | None = None
    size: tuple[int, int] = (224, 224)
    latency: Known = field(default_factory=Known)
    bandwidth: Known = field(default_factory=Known)
    rate: Known = field(default_factory=Known)
    gpu_rate: Known = field(default_factory=Known)
    vram: int = 80 * 10**9

    @property
    def working(self) -> int:
        """Workers of a node that have a core each."""
        workers = self.workers * self.ranks
        return workers if self.cores is None else min(workers, self.cores)

    @property
    def world_size(self) -> int:
        """Ranks in all."""
        return self.nodes * self.ranks
