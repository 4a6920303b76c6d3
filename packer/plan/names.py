"""Names of shards, relative to their dataset: the one place that spells them."""

import re
from pathlib import Path

from reader.format import Manifest

SHARD = re.compile(r"(?:(.+)/)?shard-\d{6,}\.(?:tar|safetensors)")  # group 1: the split


def shard_name(split: str, number: int) -> str:
    """Return the name of a shard's tar; `split` is "" without splits."""
    return f"{split}/shard-{number:06d}.tar" if split else f"shard-{number:06d}.tar"


def next_numbers(base: Manifest | None) -> dict[str, int]:
    """Return the number of the next shard of each split that `base` has."""
    numbers: dict[str, int] = {}
    for shard in base.shards if base else ():
        number = int(re.findall(r"\d+", Path(shard.file).stem)[-1])
        numbers[shard.split] = max(numbers.get(shard.split, 0), number + 1)
    return numbers
