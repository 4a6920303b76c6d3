"""What `packer plan` prints: the plan line by line, and a table of what a change would do."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from packer.words import in_bytes, many

if TYPE_CHECKING:
    from packer.inspect.plan.estimate import Estimate
    from packer.inspect.plan.setting import Setting
    from packer.inspect.plan.stored import Stored

_TITLE = 12
_COLUMNS = (
    ("shards a batch", 16),
    ("requests", 12),
    ("bytes", 12),
    ("cached", 9),
    ("time", 9),
    ("  bound by", 0),
)
_OF_A_STORE = ("requests", "bytes", "cached")
_OF_TIME = ("time", "  bound by")


def lines(
    place: str, stored: "Stored", setting: "Setting", found: "Estimate", *, is_far: bool
) -> Iterator[str]:
    """The plan; a line begins with what it is about; `is_far`: with what a store is asked for."""
    from packer.inspect.plan.told import told

    what = f"{many(len(stored), 'sample')} in {many(found.shards, 'shard')}"
    yield f"{'dataset':<{_TITLE}}{place}: {what}, {in_bytes(stored.bytes)}"
    for about, text in told(stored, setting, found, is_far=is_far):
        yield f"{about:<{_TITLE}}{text}"


def compared(
    found: "Estimate", others: Sequence[tuple[str, "Estimate | None"]], *, is_far: bool
) -> Iterator[str]:
    """A table of the last epoch, as planned and with each change that changes it; or nothing."""
    everything = (found, *(other for _, other in others if other))
    is_timed = any(each.times[-1].longest is not None for each in everything)
    hidden = {*(() if is_far else _OF_A_STORE), *(() if is_timed else _OF_TIME)}
    columns = [column for column in _COLUMNS if column[0] not in hidden]
    rows = [("as planned", _row(found, columns))]
    for name, other in others:
        row = _row(other, columns) if other else "  the cache is too small for it"
        if row != rows[0][1]:  # it may differ in an epoch before
            rows.append((name, row))
    if len(rows) == 1:
        return
    widest = max(len(name) for name, _ in rows) + 1
    heads = "".join(f"{name:>{width}}" for name, width in columns)
    yield ""
    yield f"{f'epoch {len(found.traffic)}':<{widest}}{heads}"
    for name, row in rows:
        yield f"{name:<{widest}}{row}"


def _row(each: "Estimate", columns: Iterable[tuple[str, int]]) -> str:
    """What the last epoch takes."""
    from packer.inspect.plan.told import in_time

    moved, took = each.traffic[-1], each.times[-1]
    cells = {
        "shards a batch": f"{each.mixing:.1f}",
        "requests": f"{moved.requests:,}",
        "bytes": in_bytes(moved.bytes),
        "cached": f"{moved.hit_share:.1%}",
        "time": "-" if took.longest is None else in_time(took.longest),
        "  bound by": f"  {took.bound_by or '-'}",
    }
    return "".join(f"{cells[name]:>{width}}" for name, width in columns)
