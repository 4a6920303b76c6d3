"""shards.index: the indexes of a dataset of many shards, back to back."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from packer.files.atomic import replacing, write_file
from reader.format import Manifest
from reader.format.checksum import checksum_of
from reader.format.manifest import FILENAME, JOINED

_SHARDS = 64  # from which on a store is asked for their indexes together
_MEAN, _BYTES = 1 << 20, 4 * 10**9  # of an index, and of all: larger ones are requests of their own


def with_joined(content: Manifest) -> Manifest:
    """Return the manifest with `joined` set if joined indexes save requests."""
    count, size = len(content.shards), sum(shard.index_bytes for shard in content.shards)
    return replace(content, joined=count >= _SHARDS and size <= min(count * _MEAN, _BYTES))


def write_manifest(folder: Path, content: Manifest) -> None:
    content = with_joined(content)
    if content.joined:
        write_joined(folder, content)
    write_file(folder / FILENAME, content.dump().encode())


def write_joined(folder: Path, content: Manifest, others: Sequence[Path] = ()) -> None:
    """Write the file into `folder`, of the indexes there or in `others`."""
    with replacing(folder / JOINED) as file:
        for shard in content.shards:
            places = (place / shard.index for place in (folder, *others))
            file.write(next(path for path in places if path.exists()).read_bytes())


def joined_damages(folder: Path, content: Manifest) -> Iterator[str]:
    try:
        with open(folder / JOINED, "rb") as file:
            for shard in content.shards:
                if checksum_of(file.read(shard.index_bytes)) != shard.index_checksum:
                    yield f"it does not hold the index of {shard.file}"
                    return
            if file.read(1):
                yield "it is longer than the indexes together"
    except OSError as error:
        yield f"it cannot be read: {error.strerror}"
