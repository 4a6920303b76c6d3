"""What `packer plan` prints: the plan line by line, and a table of what a change would do."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from packer.cli.output import counted, in_bytes

if TYPE_CHECKING:
    from packer.estimate.estimate import Estimate
    from packer.estimate.memory import Memory
    from packer.estimate.setting import Known, Setting
    from packer.estimate.stored import Stored

_TITLE = 12
_COLUMNS = (("shards a batch", 16), ("requests", 12), ("bytes", 12), ("cached", 9), ("time", 9))


def told(place: str, stored: "Stored", setting: "Setting", found: "Estimate") -> Iterator[str]:
    """The plan; a line begins with what it is about."""
    yield _line(
        "dataset",
        f"{place}: {counted(len(stored), 'samples')} in {counted(found.shards, 'shards')}, "
        f"{in_bytes(stored.bytes)}",
    )
    yield _line(
        "read by",
        f"{counted(setting.nodes, 'nodes')} of {counted(setting.ranks, 'ranks')}, each with "
        f"{counted(setting.workers, 'workers')} and batches of {setting.batch_size}",
    )
    ends = f"{counted(found.padding, 'rows')} of the last step pad"
    if setting.drop_last:
        ends = f"{counted(found.dropped, 'samples')} dropped"
    yield _line(
        "an epoch", f"{found.steps:,} steps, {found.samples:,} samples on the first rank; {ends}"
    )
    yield _line("mixing", f"{found.mixing:.1f} of {found.shards:,} shards in a batch")
    requests, size = found.opening
    yield _line("opening", f"{counted(requests, 'requests')}, {in_bytes(size)}, once a node")
    for number, (moved, took) in enumerate(zip(found.traffic, found.times, strict=True), 1):
        told = (
            f"{moved.requests:,} requests, {in_bytes(moved.bytes)} a node; "
            f"{moved.hit_share:.1%} from its cache"
        )
        if took.longest is not None:
            told += f"; {_time(took.longest)}, bound by {took.bound_by}"
        yield _line(f"epoch {number}", told)
    if found.seconds is not None:
        parts = [f"{name} {_time(each)}" for name, each in found.times[-1].seconds.items()]
        yield _line("time", f"of epoch {len(found.times)}: {', '.join(parts)}, all at a time")
    yield from _rates(setting)
    yield from _memory(found.memory)


def _rates(setting: "Setting") -> Iterator[str]:
    """What was counted with, and where it comes from."""
    known: dict[str, tuple[Known, Callable[[float], str]]] = {
        "latency": (setting.latency, lambda value: f"{value * 1e3:.3g} ms a request"),
        "bandwidth": (setting.bandwidth, lambda value: f"{in_bytes(value)} a second and node"),
        "rate": (setting.rate, lambda value: f"{value:,.0f} images/s decoded a node"),
        "gpu-rate": (setting.gpu_rate, lambda value: f"{value:,.0f} images/s a GPU"),
    }
    for name, (rate, words) in known.items():
        if rate.value is not None:
            yield _line(name, f"{words(rate.value)} ({rate.source})")
    if lacking := [f"--{name}" for name, (rate, _) in known.items() if rate.value is None]:
        yield _line("not known", f"{', '.join(lacking)}: the time is without it")


def _memory(held: "Memory") -> Iterator[str]:
    slots = held.ring // held.batch
    yield _line(
        "a rank", f"{in_bytes(held.ring)} for {slots} batches of {in_bytes(held.batch)} in memory"
    )
    yield _line(
        "a node",
        f'{in_bytes(held.indexes)} of indexes, mapped; cache="decoded" would take '
        f"{in_bytes(held.decoded)}, or {in_bytes(held.decoded_fixed)} of one size",
    )
    shares = [
        f"{in_bytes(held.gpu[name])} in {name} ({share:.2%})"
        for name, share in held.vram_share.items()
    ]
    yield _line("a GPU", f"batches take {', '.join(shares)} of {in_bytes(held.vram)}")


def compared(found: "Estimate", others: Iterable[tuple[str, "Estimate | None"]]) -> Iterator[str]:
    """A table of the last epoch, as it is planned and with one change each."""
    rows: list[tuple[str, Estimate | None]] = [("as planned", found), *others]
    widest = max(len(name) for name, _ in rows) + 1
    heads = "".join(f"{name:>{width}}" for name, width in _COLUMNS)
    yield f"{f'epoch {len(found.traffic)}':<{widest}}{heads}  bound by"
    for name, each in rows:
        if each is None:
            yield f"{name:<{widest}}  the cache is too small for it"
            continue
        moved, took = each.traffic[-1], each.times[-1]
        cells = (
            f"{each.mixing:.1f}",
            f"{moved.requests:,}",
            in_bytes(moved.bytes),
            f"{moved.hit_share:.1%}",
            "-" if took.longest is None else _time(took.longest),
        )
        shown = "".join(
            f"{cell:>{width}}" for cell, (_, width) in zip(cells, _COLUMNS, strict=True)
        )
        yield f"{name:<{widest}}{shown}  {took.bound_by or '-'}"


def _line(about: str, what: str) -> str:
    return f"{about:<{_TITLE}}{what}"


def _time(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
