"""A plan in words: what each line is about, and what it says (pure)."""

from collections.abc import Callable, Iterator

from packer.inspect.plan.estimate import Estimate
from packer.inspect.plan.memory import Memory
from packer.inspect.plan.setting import Known, Setting
from packer.inspect.plan.stored import Stored
from packer.words import are, in_bytes, many

Line = tuple[str, str]


def told(stored: Stored, setting: Setting, found: Estimate, *, is_far: bool) -> Iterator[Line]:
    """The plan; `is_far`: with what a store is asked for."""
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
        yield from _asked(found)
    if needed := found.times[-1].seconds:
        parts = [f"{name} {in_time(each)}" for name, each in needed.items()]
        yield "time", f"of epoch {len(found.times)}: {', '.join(parts)}, all at a time"
    yield from _rates(setting, is_far)
    yield from _memory(found.memory)


def _asked(found: Estimate) -> Iterator[Line]:
    """What a store gives, from the beginning on."""
    requests, size = found.opening
    yield "opening", f"{many(requests, 'request')}, {in_bytes(size)}, once a node"
    for number, (moved, took) in enumerate(zip(found.traffic, found.times, strict=True), 1):
        line = (
            f"{many(moved.requests, 'request')}, {in_bytes(moved.bytes)} a node; "
            f"{moved.hit_share:.1%} from its cache"
        )
        if took.longest is not None:
            line += f"; {in_time(took.longest)}, bound by {took.bound_by}"
        yield f"epoch {number}", line


def _rates(setting: Setting, is_far: bool) -> Iterator[Line]:
    """What was counted with, and where it comes from."""
    known: dict[str, tuple[Known, Callable[[float], str]]] = {}
    if is_far:
        known = {
            "latency": (setting.latency, lambda value: f"{value * 1e3:.3g} ms a request"),
            "bandwidth": (setting.bandwidth, lambda value: f"{in_bytes(value)} a second and node"),
        }
    known |= {
        "rate": (setting.rate, lambda value: f"{value:,.0f} images/s decoded a node"),
        "gpu-rate": (setting.gpu_rate, lambda value: f"{value:,.0f} images/s a GPU"),
    }
    for name, (rate, words) in known.items():
        if rate.value is not None:
            yield name, f"{words(rate.value)} ({rate.source})"
    if lacking := [f"--{name}" for name, (rate, _) in known.items() if rate.value is None]:
        if len(lacking) < len(known):
            yield "not known", f"{', '.join(lacking)}: the time is without it"
        else:
            yield "time", f"cannot be told, as none of {', '.join(lacking)} is known"


def _memory(held: Memory) -> Iterator[Line]:
    slots = held.ring // held.batch
    yield (
        "a rank",
        f"{in_bytes(held.ring)} for {slots} batches of {in_bytes(held.batch)} in memory",
    )
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


def in_time(seconds: float) -> str:
    """Seconds in the unit that people would choose."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
