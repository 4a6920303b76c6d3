"""Statistics of a loader as text, and its bottleneck as a sentence."""

import math
from dataclasses import replace

from reader.look.page import table
from reader.monitoring.counters import BUSY, Counters, minus

_TELLS = 0.05  # share of the workers' time from which waiting for a store is named, too
_ONLY_WAITS = 0.95  # share of waiting from which the consumer's own pace is unknown
_STARVED = 0.7  # share of a core per worker, below which other processes use the cores


class Statistics(Counters):
    """Counts and times of a loader since it was made, or `since` earlier statistics.

    Each count is an attribute, such as ``statistics.batches``. They are grouped into `loop`,
    `spent`, `cache`, `store` and `now`; see `reader.monitoring.counters`.

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
        """Return a table for notebooks."""
        return table(self.bottleneck, rows_of(self))

    def since(self, earlier: "Statistics") -> "Statistics":
        """Return the counts from `earlier` until now, such as those of one epoch."""
        return replace(
            self,
            loop=minus(self.loop, earlier.loop),
            spent=minus(self.spent, earlier.spent),
            cache=minus(self.cache, earlier.cache),
            store=self.store.since(earlier.store),
        )

    @property
    def bottleneck(self) -> str:
        """A sentence with the bottleneck of the loop, the figures that show it, and a remedy."""
        return bottleneck(self)


def rows_of(seen: Counters) -> list[tuple[str, str]]:
    loop, spent, cache, store, now = seen.loop, seen.spent, seen.cache, seen.store, seen.now
    rate = f"{seen.images_per_second:,.0f} images/s"
    rows = [
        ("read", f"{loop.samples:,} samples in {loop.batches:,} batches, {rate}"),
        (
            "consumer",
            f"waited {loop.waited:.2f} s of {loop.elapsed:.2f} s ({seen.waited_share:.0%})",
        ),
        (
            "workers",
            f"{now.workers} on {counted(now.cores, 'core')}, busy {seen.busy_share:.0%} of "
            f"{loop.worker_seconds:.2f} s",
        ),
        (
            "their work",
            f"{now.work} {seen.decode:.2f} s, transforms {spent.transform:.2f} s, "
            f"reading {spent.read:.2f} s ({spent.read_bytes / 1e6:,.1f} MB)",
        ),
        ("ready", f"{now.ready} of {now.slots} batches, of {now.slot_bytes / 1e6:,.1f} MB each"),
    ]
    if now.decoder:
        gpu = f"{now.decoder} on the GPU"
        by = f"workers {now.decode_share:.0%}, {gpu} the rest" if now.decode_share else gpu
        rows.append(("decoded by", by))
    if now.refused_decoders:
        rows.append(("not used", "; ".join(now.refused_decoders)))
    if store.requests or cache.hits:
        came = f"{store.fetched_bytes / 1e6:,.1f} MB in {counted(store.requests, 'request')}"
        cached = f"{cache.hits:,} of {cache.hits + cache.fetched:,} samples were in the cache"
        rows.append(("store", f"{came}, {cached}, workers waited {spent.waiting:.2f} s"))
    troubles = {
        "images from the cache": spent.cached,
        "samples that could not be read": loop.bad,
        "samples that map_sample dropped": loop.filtered,
        "boxes dropped": spent.dropped_boxes,
        "batches copied out": loop.copied,
        "workers replaced": loop.restarts,
        "requests to the store repeated": store.retries,
    }
    if listed := [f"{what}: {count:,}" for what, count in troubles.items() if count]:
        rows.append(("besides", "; ".join(listed)))
    return rows


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def bottleneck(was: Counters) -> str:
    loop, spent, store = was.loop, was.spent, was.store
    seen = (
        f"workers busy {was.busy_share:.0%}, the consumer waited {was.waited_share:.0%} of the time"
    )
    if spent.cached:
        share = min(spent.cached / loop.samples, 1.0)
        seen += f', {share:.0%} of the images were decoded already (cache="decoded")'
    busy = max(spent.busy, 1e-9)
    if was.bound_by != "store" and spent.waiting > _TELLS * busy:
        seen += f", workers waited for the store {spent.waiting / busy:.0%} of their time"
    if was.bound_by == "consumer":
        return f"consumer-bound: {seen}; {_spare(was)}"
    if was.bound_by == was.now.work:
        return f"{was.now.work}-bound: {seen}; {_remedy(was)}"
    if was.bound_by == "transform":
        took = f"transforms took {spent.transform / busy:.0%} of the workers' time"
        return f"transform-bound: {took}, {seen}; {_remedy(was)}"
    if was.bound_by == "storage":
        each = max(loop.worker_seconds / max(was.now.workers, 1), 1e-9)
        return (
            f"storage-bound: reading took {spent.read / busy:.0%} of the workers' time "
            f"at {spent.read_bytes / each / 1e6:.0f} MB/s, {seen}; use faster storage, "
            "shuffle=reader.BlockShuffle(16) if it prefers long reads, or more workers= if it "
            "serves many readers."
        )
    if was.bound_by == "store":
        in_flight = counted(round(store.asking / loop.elapsed), "request")
        each = store.asking / max(store.requests, 1) * 1e3
        return (
            f"store-bound: workers waited for the store {spent.waiting / busy:.0%} of their "
            f"time, with {in_flight} in flight at {each:.0f} ms and "
            f"{store.fetched_bytes / loop.elapsed / 1e6:.1f} MB/s, {seen}; use a nearer store, a "
            "larger cache_limit= of reader.Dataset, or shuffle=reader.BlockShuffle(16), which "
            "requests more at a time."
        )
    if was.bound_by == "start-up":
        died = f" or replaced ({loop.restarts} died)" if loop.restarts else ""
        return (
            f"start-up: {seen}; workers were being started{died}, or the loop requests batches in "
            "bursts: measure a longer run."
        )
    return "No batch was read yet."


def _spare(was: Counters) -> str:
    enough = max(1, math.ceil(round(was.spent.busy / was.loop.elapsed / BUSY, 3)))
    if enough < was.now.workers:
        return f"the reader keeps up; workers={enough} would be enough."
    return "the reader keeps up."


def _remedy(was: Counters) -> str:
    workers, cores, spent = was.now.workers, was.now.cores, was.spent
    if not workers:
        return "this process did the work itself (workers=0): leave workers= out."
    computing = spent.busy - spent.read - spent.waiting
    if was.bound_by == was.now.work and spent.cpu < _STARVED * computing:
        return (
            f"each worker got {spent.cpu / computing:.0%} of a core, so free some cores; more "
            "workers would not help."
        )
    more = max(1, was.needed_workers - workers)
    what = f"workers={workers + more} would keep up"
    if was.waited_share > _ONLY_WAITS:
        each = was.images_per_second / (was.busy_share * workers)
        more, what = 1, f"each further worker adds about {each:.0f} images/s"
    if workers + more > cores:
        return f"{what}, but there are only {counted(cores, 'usable core')}."
    return f"{what}."
