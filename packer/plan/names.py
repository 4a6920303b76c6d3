"""Names of shards, relative to their dataset: the one place that spells them."""

import re

SHARD = re.compile(r"(?:(.+)/)?shard-\d{6,}\.(?:tar|safetensors)")  # group 1: the split


def shard_name(split: str, number: int) -> str:
    """Return the name of a shard's tar; `split` is "" without splits."""
    return f"{split}/shard-{number:06d}.tar" if split else f"shard-{number:06d}.tar"
