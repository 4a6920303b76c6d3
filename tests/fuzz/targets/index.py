"""An index beside its tar, as the reader opens it, and as `packer info` and `packer verify` do.

The tar is what it was; the index is the input. Whatever it says, every accessor gives what lies in
the tar where it says so, or refuses.
"""

import contextlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from finished import info, verify, verifying

from reader import CenterCrop, Dataset, RandomCrop, RandomHorizontalFlip, RandomResizedCrop
from reader.fields.built_in import BUILT_IN
from reader.fields.field import Recipe
from reader.fields.raw import RawBatchReader, can_gather
from reader.fields.sample import SampleReader
from reader.format import FORMATS, Index, Manifest, ShardEntry, ShardfeedError
from reader.format.errors import DecodeError
from targets.making import LIMITS, dataset, folder

_ROWS = 6  # looked at
_TAR = "shard-000000.tar"
_FIELDS = tuple(BUILT_IN[name] for name in ("image", "label", "key"))


@cache
def _packed() -> tuple[Path, ...]:
    """Datasets of one shard: tiled JPEGs with PNGs and sidecars; raw images."""
    return dataset("index-tiled", quality=90), dataset("index-raw", raw=(6, 8))


@cache
def _folder() -> Path:
    return folder("index-fuzzed")


def seeds() -> Iterator[bytes]:
    """The indexes as they were written."""
    for packed in _packed():
        yield (packed / _TAR).with_suffix(".safetensors").read_bytes()


def one(data: bytes) -> None:
    """Read all that an index lists."""
    for packed in _packed():
        with contextlib.suppress(ShardfeedError):
            found = _dataset(data, packed / _TAR)
            with patch.object(verifying, "map_isolated", _in_this_process):
                verify(_folder(), 1, decode=True, limits=LIMITS)  # also what is refused below
            with contextlib.suppress(ShardfeedError):
                info(_folder())
            _read_all(found, (packed / _TAR).read_bytes())


def _in_this_process(call: Any, items: Any, _: int, advance: Any, *__: Any) -> Iterator[Any]:
    return (call(item, advance) for item in items)


def _dataset(data: bytes, tar: Path) -> Dataset:
    """A dataset whose dataset.json says what the index does."""
    path = (_folder() / _TAR).with_suffix(".safetensors")
    path.write_bytes(data)
    index = Index(path)
    (_folder() / _TAR).unlink(missing_ok=True)
    (_folder() / _TAR).symlink_to(tar)
    entry = ShardEntry(_TAR, "", len(index), index.tar_bytes, index.tar_checksum, len(data), "")
    fields = ("raw", *index.members)
    content = Manifest("0", {}, "", ("a", "b"), fields, (entry,))
    (_folder() / "dataset.json").write_text(content.dump())
    return Dataset(_folder(), limits=LIMITS)


def _read_all(found: Dataset, tar: bytes) -> None:
    index = Index(found.folder / found.shards[0].index)
    with contextlib.suppress(ShardfeedError):
        assert len(index.rejected) + len(index.untiled) >= 0
    assert len(found.labels) == len(found)
    found.sizes()
    _gather(found)
    reader = SampleReader(found, Recipe((RandomResizedCrop(8),), 0, _FIELDS))
    for number in range(min(len(found), _ROWS)):
        with contextlib.suppress(ShardfeedError):
            assert isinstance(found.keys[number], str)
        shard, row = found.locate(number)
        for ext in {FORMATS[index.columns["format"][row]], *index.members}:
            span = index.span(ext, row)
            with contextlib.suppress(ShardfeedError):
                content = found.read(number, ext)
                assert span is not None
                assert content == tar[span[0] : sum(span)]
                assert len(content) == span[1]
        with contextlib.suppress(ShardfeedError):
            pixels = found[number][0]
            assert pixels.shape == (*shard.image(row).upright_size, 3)
        with contextlib.suppress(ShardfeedError, DecodeError):
            assert reader.read(reader.plan(number, 0, number))["image"].shape == (8, 8, 3)


def _gather(found: Dataset) -> None:
    for transforms in ((CenterCrop(4),), (RandomCrop(4, padding=3), RandomHorizontalFlip())):
        recipe = Recipe(transforms)
        if can_gather(found, transforms):
            raw = RawBatchReader(found, recipe, lambda sample: None)
            samples = np.arange(len(found))
            raw.fill(np.empty((len(found), 4, 4, 3), np.uint8), samples, 0, samples)
