"""What statistics say, row by row: for terminals and notebooks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reader.loader.statistics import Statistics


def rows_of(seen: "Statistics") -> list[tuple[str, str]]:
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
        (
            "ready",
            f"{seen.ready} of {seen.slots} batches, of {seen.slot_bytes / 1e6:,.1f} MB each",
        ),
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
