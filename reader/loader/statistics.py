"""What a loader did, row by row, and what held it back, in words."""

import math
from dataclasses import asdict, dataclass, fields

from reader.loader.counters import BUSY, Counters, Flows
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


_ONLY_WAITS = 0.95  # from here on the consumer has no pace of its own
_STARVED = 0.7  # of a core for each worker: below this something else has the cores


def rows_of(seen: Counters) -> list[tuple[str, str]]:
    """What each row is about, and its text; troubles and stores only where there are any."""
    rows = [
        (
            "read",
            f"{seen.samples:,} samples in {seen.batches:,} batches, "
            f"{seen.images_per_second:,.0f} images/s",
        ),
        (
            "consumer",
            f"waited {seen.waited:.2f} s of {seen.elapsed:.2f} s ({seen.waited_share:.0%})",
        ),
        (
            "workers",
            # Of it, what was done ahead before the loop asked is no share of the loop's time.
            f"{seen.workers} on {counted(seen.cores, 'core')}, busy {seen.busy_share:.0%} of "
            f"{seen.worker_seconds:.2f} s",
        ),
        (
            "their work",
            f"{seen.work} {seen.decode:.2f} s, transforms {seen.transform:.2f} s, "
            f"reading {seen.read:.2f} s ({seen.read_bytes / 1e6:,.1f} MB)",
        ),
        ("ready", f"{seen.ready} of {seen.slots} batches, of {seen.slot_bytes / 1e6:,.1f} MB each"),
    ]
    if seen.requests or seen.hits:
        rows.append(
            (
                "store",
                f"{seen.fetched_bytes / 1e6:,.1f} MB in {counted(seen.requests, 'request')}, "
                f"{seen.hits:,} of {seen.hits + seen.fetched:,} samples were in the cache, "
                f"workers waited {seen.waiting:.2f} s",
            )
        )
    troubles = {
        "images from the cache": seen.cached,
        "samples that could not be read": seen.bad,
        "boxes dropped": seen.dropped_boxes,
        "batches copied out": seen.copied,
        "workers replaced": seen.restarts,
        "requests to the store repeated": seen.retries,
    }
    if told := [f"{what}: {count:,}" for what, count in troubles.items() if count]:
        rows.append(("besides", "; ".join(told)))
    return rows


def counted(count: int, noun: str) -> str:
    """``1 core``, ``2 cores``."""
    return f"{count} {noun}{'s' * (count != 1)}"


def bottleneck(was: Counters) -> str:
    """Return what holds the loop back, by what measure, and what would help."""
    seen = (
        f"workers busy {was.busy_share:.0%}, the consumer waited {was.waited_share:.0%} of the time"
    )
    if was.cached:
        share = min(was.cached / was.samples, 1.0)
        seen += f", {share:.0%} of the images came decoded from memory"
    part = max(was.busy, 1e-9)
    if was.bound_by == "consumer":
        return f"consumer-bound: {seen}; {_spare(was)}"
    if was.bound_by == was.work:
        return f"{was.work}-bound: {seen}; {_remedy(was)}"
    if was.bound_by == "transform":
        took = f"transforms took {was.transform / part:.0%} of the workers' time"
        return f"transform-bound: {took}, {seen}; {_remedy(was)}"
    if was.bound_by == "storage":
        pace = was.read_bytes / max(was.worker_seconds / max(was.workers, 1), 1e-9) / 1e6
        return (
            f"storage-bound: reading took {was.read / part:.0%} of the workers' time "
            f"at {pace:.0f} MB/s, {seen}; faster storage helps, "
            "BlockShuffle where it prefers long reads, more workers where it serves many."
        )
    if was.bound_by == "store":
        in_flight = counted(round(was.asking / was.elapsed), "request")
        each = was.asking / max(was.requests, 1) * 1e3
        return (
            f"store-bound: workers waited for the store {was.waiting / part:.0%} of their "
            f"time, with {in_flight} in flight at {each:.0f} ms and "
            f"{was.fetched_bytes / was.elapsed / 1e6:.1f} MB/s, {seen}; a store that is "
            "nearer helps, a cache_limit that holds more of the dataset, or BlockShuffle, "
            "which asks for more at a time."
        )
    if was.bound_by == "start-up":
        died = f" or replaced ({was.restarts} died)" if was.restarts else ""
        return (
            f"start-up: {seen}; workers were being started{died}, or batches are asked for in "
            "bursts: a longer run tells more."
        )
    return "Nothing was read yet."


def _spare(was: Counters) -> str:
    enough = max(1, math.ceil(round(was.busy / was.elapsed / BUSY, 3)))
    if enough < was.workers:
        return f"the reader keeps up, and would with {counted(enough, 'worker')}."
    return "the reader keeps up."


def _remedy(was: Counters) -> str:
    """Return what more workers would do, as far as there are cores for them."""
    if not was.workers:
        return "this very process did the work (workers=0), worker processes would beside it."
    computing = was.busy - was.read - was.waiting
    if was.bound_by == was.work and was.cpu < _STARVED * computing:
        return (
            f"they got {was.cpu / computing:.0%} of a core each, so free cores would help, "
            "more workers not."
        )
    if was.waited_share > _ONLY_WAITS:
        each = was.images_per_second / (was.busy_share * was.workers)
        what = f"each further worker adds about {each:.0f} images/s"
        more = 1
    else:
        more = max(1, was.needed_workers - was.workers)
        what = f"{more} more worker{'s' * (more > 1)} would keep up"
    if was.workers + more > was.cores:
        return f"{what}, but there are only {counted(was.cores, 'usable core')}."
    return f"{what}."
