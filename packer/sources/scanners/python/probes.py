"""Reads a few items of a dataset beforehand: how large they are, and whether it is the same one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import xxhash

from packer.errors import BadImage, UnusableInput
from packer.images.encode import Policy, encode, grows_as_png
from packer.sources.scanners.python.items import Item

_ITEMS = 32  # that are read
_EVERY = 2  # of them is read twice: what changes half of the time is seen

Read = Callable[[int, int | None], Item]


@dataclass(frozen=True)
class Probed:
    """Findings from a few items."""

    size: int  # bytes that an item takes in the shards, on average
    digest: str
    drawn: bool  # they are not the same when they are read twice
    repeatable: bool  # they are, where the random generators begin at the same place
    keyed: bool
    labelled: bool
    members: tuple[str, ...]  # extensions
    as_png: bool = field(default=False, compare=False, repr=False)  # photographs; no identity


@dataclass(frozen=True)
class _Look:
    digest: bytes
    size: int = 0
    keyed: bool = False
    labelled: bool = False
    members: tuple[str, ...] = ()
    reason: str = ""
    as_png: bool = False


def probe(read: Read, count: int, policy: Policy) -> Probed:
    """Read items at even distances; raise UnusableInput if none can be packed."""
    numbers = sorted({n * (count - 1) // (_ITEMS - 1) for n in range(_ITEMS)})
    looks = [_look(read, number, None, policy) for number in numbers]
    packable = [look for look in looks if not look.reason]
    if not packable:
        raise UnusableInput(
            f"None of the {len(looks)} items that were read first can be packed. Item "
            f"{numbers[0]}: {looks[0].reason}."
        )
    twice = list(zip(numbers, looks, strict=True))[::_EVERY]
    drawn = any(_look(read, number, None, policy) != look for number, look in twice)
    repeatable = True
    if drawn:
        looks, again = ([_look(read, n, n, policy) for n in numbers] for _ in range(2))
        repeatable = looks == again
    return Probed(
        size=-(-sum(look.size for look in packable) // len(packable)),
        digest=xxhash.xxh3_128_hexdigest(b"".join(look.digest for look in looks)),
        drawn=drawn,
        repeatable=repeatable,
        keyed=any(look.keyed for look in packable),
        labelled=any(look.labelled for look in packable),
        members=tuple(sorted({ext for look in packable for ext in look.members})),
        as_png=any(look.as_png for look in packable),
    )


def _look(read: Read, number: int, draws: int | None, policy: Policy) -> _Look:
    try:
        item = read(number, draws)
        size = sum(map(len, item.members.values()))
        if isinstance(item.image, bytes) and not (policy.raw or policy.max_side or policy.quality):
            size += len(item.image)
        else:
            size += len(encode(item.image, replace(policy, tiled=False)).data)
    except BadImage as error:
        return _Look(str(error).encode("utf-8", "replace"), reason=str(error))
    found = item.key is not None, item.label >= 0, tuple(item.members)
    return _Look(_digest(item), size, *found, as_png=grows_as_png(item.image, policy))


def _digest(item: Item) -> bytes:
    image = item.image
    state = xxhash.xxh3_128(image if isinstance(image, bytes) else image.tobytes())
    rest = (item.label, item.key, item.split, "" if isinstance(image, bytes) else image.size)
    state.update(repr(rest).encode("utf-8", "surrogatepass"))
    for ext, data in item.members.items():
        state.update(ext.encode())
        state.update(data)
    return state.digest()
