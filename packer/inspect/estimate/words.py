"""An estimate as lines of text: a topic and a sentence each, and the effect of changes."""

from collections.abc import Callable, Iterator, Sequence

from packer.inspect.estimate.estimate import Estimate, Memory
from packer.inspect.estimate.reading import Known, Setting, Stored
from packer.words import are, in_bytes, many, typed

Line = tuple[str, str]
_Others = Sequence[tuple[str, Estimate | None]]

_TITLE = 12
_BOUND = "  bound by"
_COLUMNS = {"shards a batch": 16, "requests": 12, "bytes": 12, "cached": 9, "time": 9, _BOUND: 0}
_OF_A_STORE = ("requests", "bytes", "cached")
_OF_TIME = ("time", _BOUND)


def lines(
    place: str, stored: Stored, setting: Setting, found: Estimate, others: _Others, *, is_far: bool
) -> Iterator[str]:
    what = f"{many(len(stored), 'sample')} in {many(found.shards, 'shard')}"
    yield f"{'dataset':<{_TITLE}}{place}: {what}, {in_bytes(stored.bytes)}"
    for about, text in summary(stored, setting, found, is_far=is_far):
        yield f"{about:<{_TITLE}}{text}"
    yield from _compared(found, others, is_far=is_far)


def summary(stored: Stored, setting: Setting, found: Estimate, *, is_far: bool) -> Iterator[Line]:
    yield (
        "read by",
        f"{many(setting.nodes, 'node')} of {many(setting.ranks, 'rank')}, each with "
        f"{many(setting.workers, 'worker')} and batches of {setting.batch_size:,} images of "
        f"{setting.size[1]:,} x {setting.size[0]:,} pixels",
    )
    ends = f"{many(found.padding, 'row')} of the last step {are(found.padding)} padding"
    if not found.padding:
        ends = "no padding"
    if setting.drop_last:
        ends = f"{many(found.dropped, 'sample')} dropped"
    yield (
        "an epoch",
        f"{many(found.steps, 'step')}, {many(found.samples, 'sample')} on the first rank; {ends}",
    )
    yield "mixing", f"{found.mixing:.1f} of {many(found.shards, 'shard')} in a batch"
    if is_far:
        yield from _of_a_store(found)
    if needed := found.times[-1].seconds:
        parts = [f"{name} {_in_time(each)}" for name, each in needed.items()]
        yield "time", f"of epoch {len(found.times)}: {', '.join(parts)}, all at a time"
    yield from _rates(setting, is_far)
    yield from _memory(found.memory)


def _of_a_store(found: Estimate) -> Iterator[Line]:
    requests, size = found.opening
    yield "opening", f"{many(requests, 'request')}, {in_bytes(size)}, once a node"
    for number, (moved, took) in enumerate(zip(found.traffic, found.times, strict=True), 1):
        line = (
            f"{many(moved.requests, 'request')}, {in_bytes(moved.bytes)} a node; "
            f"{moved.hit_share:.1%} from its cache"
        )
        if took.longest is not None:
            line += f"; {_in_time(took.longest)}, bound by {took.bound_by}"
        yield f"epoch {number}", line


def _rates(setting: Setting, is_far: bool) -> Iterator[Line]:
    known: dict[str, tuple[Known, Callable[[float], str]]] = {
        "latency": (setting.latency, lambda value: f"{value * 1e3:.3g} ms a request"),
        "bandwidth": (setting.bandwidth, lambda value: f"{in_bytes(value)} a second and node"),
        "rate": (setting.rate, lambda value: f"{value:,.0f} images/s decoded a node"),
        "gpu-rate": (setting.gpu_rate, lambda value: f"{value:,.0f} images/s a GPU"),
    }
    if not is_far:
        del known["latency"], known["bandwidth"]
    for name, (rate, words) in known.items():
        if rate.value is not None:
            yield name, f"{words(rate.value)} ({rate.source})"
    if lacking := [f"--{name}" for name, (rate, _) in known.items() if rate.value is None]:
        if len(lacking) < len(known):
            yield "not known", f"{', '.join(lacking)}: the time is without it"
        else:
            yield "time", f"not estimated; pass {' or '.join(lacking)} to {typed('plan')}"


def _memory(held: Memory) -> Iterator[Line]:
    slots = held.ring // held.batch
    yield "a rank", f"{in_bytes(held.ring)} for {slots} batches of {in_bytes(held.batch)} in memory"
    yield (
        "a node",
        f'{in_bytes(held.indexes)} of indexes, mapped; cache="decoded" would take '
        f"{in_bytes(held.decoded)}, or {in_bytes(held.decoded_fixed)} of one size",
    )
    shares = [
        f"{in_bytes(held.gpu[name])} in {name} ({share:.2%})"
        for name, share in held.vram_share.items()
    ]
    yield "a GPU", f"batches take {', '.join(shares)} of {in_bytes(held.vram)}"


def _in_time(seconds: float) -> str:
    units = (("h", 3600), ("min", 60), ("s", 1))
    unit, length = next((u for u in units if seconds >= 2 * u[1]), units[-1])
    return f"{seconds / length:.3g} {unit}"


def _compared(found: Estimate, others: _Others, *, is_far: bool) -> Iterator[str]:
    """A table of the last epoch, as planned and with each change that changes it; or nothing."""
    everything = (found, *(other for _, other in others if other))
    is_timed = any(each.times[-1].longest is not None for each in everything)
    hidden = {*(() if is_far else _OF_A_STORE), *(() if is_timed else _OF_TIME)}
    columns = [name for name in _COLUMNS if name not in hidden]
    rows = [("as planned", _row(found, columns))]
    for name, other in others:
        row = _row(other, columns) if other else "  the cache is too small for it"
        if row != rows[0][1]:  # it may differ in an epoch before
            rows.append((name, row))
    if len(rows) == 1:
        return
    widest = max(len(name) for name, _ in rows) + 1
    heads = "".join(f"{name:>{_COLUMNS[name]}}" for name in columns)
    yield ""
    yield f"{f'epoch {len(found.traffic)}':<{widest}}{heads}"
    for name, row in rows:
        yield f"{name:<{widest}}{row}"


def _row(each: Estimate, columns: Sequence[str]) -> str:
    moved, took = each.traffic[-1], each.times[-1]
    cells = {
        "shards a batch": f"{each.mixing:.1f}",
        "requests": f"{moved.requests:,}",
        "bytes": in_bytes(moved.bytes),
        "cached": f"{moved.hit_share:.1%}",
        "time": "-" if took.longest is None else _in_time(took.longest),
        _BOUND: f"  {took.bound_by or '-'}",
    }
    return "".join(f"{cells[name]:>{_COLUMNS[name]}}" for name in columns)
