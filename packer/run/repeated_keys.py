"""Keys that samples bring with them: only the finished shards tell whether two have the same."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from packer.errors import EXAMPLES, UnusableInput
from packer.keys import are_among, hashes_of, repeated
from packer.shards.shard_writer import index_of, remove_shard
from reader.format import Index


def refuse_repeated_keys(folder: Path, tars: Iterable[str]) -> None:
    """Compare the keys of all samples; shards in which one is repeated are removed.

    Args:
        folder: the dataset.
        tars: its shards.

    Raises:
        UnusableInput: two samples have the same key.
    """
    paths = [folder / tar for tar in tars]
    twice = repeated([hashes_of(_keys(path)) for path in paths])
    if not len(twice):
        return
    places: dict[bytes, list[Path]] = {}
    for path in paths:
        keys = _keys(path)
        for row in np.flatnonzero(are_among(hashes_of(keys), twice)).tolist():
            places.setdefault(keys[row], []).append(path)
    found = {key: where for key, where in places.items() if len(where) > 1}
    for path in {path for where in found.values() for path in where}:
        remove_shard(path)
    if found:
        named = ", ".join(repr(key.decode()) for key in sorted(found)[:EXAMPLES])
        raise UnusableInput(
            f"{'1 key is that' if len(found) == 1 else f'{len(found)} keys are those'} of several "
            f"samples: {named}"
            f"{' and others' * (len(found) > EXAMPLES)}. Give each sample a key of its own, or "
            "none: then they are numbered. Nothing was committed."
        )


def _keys(path: Path) -> list[bytes]:
    return Index(index_of(path), mapped=False).values_of("key")
