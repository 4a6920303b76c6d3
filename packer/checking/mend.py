"""Mends a dataset.json in which a bit has flipped; its own checksum proves the result."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reader.format import (
    FormatError,
    Manifest,
    ShardEntry,
)
from reader.format.manifest import checksum_of

_NEAR_ERROR = -400, 12  # the flipped bit is not far from where parsing fails
_SHARDS = re.compile(rb'"shards": \[.*?\n \]', re.DOTALL)


def mend(text: bytes, shards: Sequence[ShardEntry]) -> Manifest | None:
    """The manifest that `text` was before its damage; None if nothing can be proven.

    Args:
        text: of the damaged dataset.json.
        shards: what the indexes say, in any order.
    """
    for content in _candidates(text, shards):
        stated = str(content.pop("checksum", ""))
        actual = checksum_of(content)
        # The checksum itself may be what was hit: no other content comes as near to it.
        if _differing_bits(stated, actual) <= 1:
            try:
                mended = json.dumps({**content, "checksum": actual}).encode()
                return Manifest.parse(mended, Path("dataset.json"))
            except FormatError:
                continue
    return None


def _candidates(text: bytes, shards: Sequence[ShardEntry]) -> Iterator[dict[str, Any]]:
    """What the file may have said, the likely first."""
    wide = [at for at, byte in enumerate(text) if byte >= 0x80]  # our JSON is ASCII
    if len(wide) == 1:
        text = _flipped(text, wide[0], 7)
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        first, last = (error.pos + distance for distance in _NEAR_ERROR)
        yield from _flips(text, range(max(first, 0), min(last, len(text))))
        return
    except (ValueError, RecursionError):
        return
    if not isinstance(content, dict):
        return
    yield dict(content)
    stated = content.get("shards")
    yield {**content, "shards": _replaced(stated, shards)}
    for entries in _one_replaced(stated, shards):
        yield {**content, "shards": entries}
    # If it is in no shard's entry, there is no need to parse these each time.
    rest = _SHARDS.sub(b'"shards": []', text, count=1)
    for candidate in _flips(rest, range(len(rest))):
        if candidate.get("shards") == []:
            candidate["shards"] = stated
        yield candidate


def _flips(text: bytes, places: range) -> Iterator[dict[str, Any]]:
    """The contents with one bit flipped at one of `places`, from the last on."""
    for at in reversed(places):
        for bit in range(7):
            try:
                content = json.loads(_flipped(text, at, bit))
            except (ValueError, RecursionError):
                continue
            if isinstance(content, dict):
                yield content


def _flipped(text: bytes, at: int, bit: int) -> bytes:
    return text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :]


def _replaced(stated: object, shards: Sequence[ShardEntry]) -> list[dict[str, Any]]:
    """The entries of `shards` in the order of those that were stated."""
    left = {entry.file: asdict(entry) for entry in sorted(shards, key=lambda shard: shard.file)}
    listed = stated if isinstance(stated, list) else []
    files = [str(entry.get("file")) if isinstance(entry, dict) else "" for entry in listed]
    order = [left.pop(file, None) for file in files]
    rest = iter(left.values())
    filled = [entry or next(rest, None) for entry in order]
    return [entry for entry in filled if entry is not None] + list(rest)


def _one_replaced(stated: object, shards: Sequence[ShardEntry]) -> Iterator[list[Any]]:
    """The entries that were stated, but one of those that no index confirms.

    For where shards are damaged too: what the others' entries say is then nowhere else.
    """
    listed = stated if isinstance(stated, list) else []
    sound = [asdict(entry) for entry in shards]
    spare = [entry for entry in sound if entry not in listed]
    for at, entry in enumerate(listed):
        if entry not in sound:
            flips = _flips(text := json.dumps(entry).encode(), range(len(text)))
            for instead in (*spare, *flips):
                yield [*listed[:at], instead, *listed[at + 1 :]]


def _differing_bits(one: str, other: str) -> int:
    if len(one) != len(other):
        return len(other)
    return sum((ord(a) ^ ord(b)).bit_count() for a, b in zip(one, other, strict=True))
