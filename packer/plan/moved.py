"""Samples that an append would store again: their files have been renamed or moved since.

Pixels are compared, since tiles and bands change the bytes of an image and none of its pixels.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import xxhash
from PIL import Image, ImageOps

from packer.errors import EXAMPLES, BadImage, WrongOption
from packer.images.probe import PILLOW_ERRORS
from packer.samples.records import Reader
from packer.samples.table import SampleTable
from packer.words import have, many, option

_MOST = 1_000  # images of each side that are compared
_LAST = 200  # of those that are numbered, since rows come in before them
_SIDE = 32  # pixels to which a JPEG is decoded at least
_COARSE = 8  # pixels of a side that are compared where pixels have changed
_ALIKE = 6  # levels by which images may differ that were resized or encoded again
_OTHER = 20  # levels by which images differ that are none of one picture

Fingerprint = tuple[int, int]


class Stored(NamedTuple):
    """An image of the dataset: its key, its shard, and what its index has of it."""

    key: str
    shard: Path
    offset: int
    size: int
    crc: int
    height: int
    width: int

    @property
    def content(self) -> bytes:
        """Its bytes; none of a dataset in a store, whose shards are not here."""
        try:
            with open(self.shard, "rb") as file:
                file.seek(self.offset)
                return file.read(self.size)
        except OSError:
            return b""


def refuse_moved(
    gone: Sequence[Stored], listing: SampleTable, files: Reader, *, is_other: bool
) -> None:
    """Raise WrongOption if new samples have the images of `gone` ones, which the source lacks.

    `is_other`: the source has no sample of the dataset. It may then be another one that has a few
    of the same images, so most of the compared images must be the same.
    """
    numbers = spread(len(listing))
    if not gone or not len(numbers):
        return
    known = {one: image.key for image in gone for one in _fingerprints(image.crc, image.content)}
    named = {_name(image.key): image for image in gone}
    same: list[tuple[str, str]] = []
    for number in numbers:
        sample = listing[number]
        with suppress(BadImage):  # packing names it
            data = _file_of(files.read(sample).image)
            found = (known.get(one) for one in _fingerprints(crc32(data), data))
            key = next(filter(None, found), None)
            of_name = named.get(_name(sample.key))
            if key or (of_name and _is_made_of(of_name, data)):
                same.append((key or named[_name(sample.key)].key, sample.key))
    if not same or (is_other and 2 * len(same) < min(len(gone), len(numbers))):
        return
    count = len(same)
    pairs = ", ".join(f"{old} is now {new}" for old, new in same[:EXAMPLES])
    more = f" and {count - EXAMPLES} more" if count > EXAMPLES else ""
    compared = f" of {many(len(numbers), 'new sample')}" + (
        " that were compared" if len(numbers) < len(listing) else ""
    )
    raise WrongOption(
        f"{count}{compared} {have(count)} the images of samples whose files are no longer in the "
        f"source: {pairs}{more}. Appended, they would be in the dataset twice. To update the "
        "dataset, pack again with ",
        option("overwrite", True),
        " in place of ",
        option("append", True),
        ". To keep it, give these files their old names.",
    )


def refuse_shifted(
    known: Iterator[tuple[int, Stored]], listing: SampleTable, files: Reader
) -> None:
    """Raise WrongOption if numbers, which are the keys, are those of other images than before."""
    other, count = list[str](), 0
    for number, stored in known:
        with suppress(BadImage):  # packing names it
            data = _file_of(files.read(listing[number]).image)
            count += 1
            own = {*_fingerprints(stored.crc, stored.content)}
            is_same = own & {*_fingerprints(crc32(data), data)}
            if not is_same and (_difference(stored, data) or 0) > _OTHER:
                other.append(stored.key)
    if not other:
        return
    more = f" and {len(other) - EXAMPLES} more" if len(other) > EXAMPLES else ""
    raise WrongOption(
        f"Keys are numbers, and {len(other)} of {many(count, 'compared sample')} "
        f"{have(len(other))} another image in the source: {', '.join(other[:EXAMPLES])}{more}. "
        "Rows were inserted, removed or moved, so that an image would come twice, or never. To "
        "update the dataset, pack again with ",
        option("overwrite", True),
        " in place of ",
        option("append", True),
        ".",
    )


def ends(count: int) -> list[int]:
    """Return some numbers below `count`: all if they are few, otherwise a spread and the last."""
    return sorted({*spread(count), *range(max(0, count - _LAST), count)})


def spread(count: int) -> range:
    """Return evenly spread numbers below `count`: all if they are few."""
    return range(0, count, -(-count // _MOST) or 1)


def _name(key: str) -> str:
    return key.rpartition("/")[2]


def _file_of(image: Any) -> bytes:
    """Return an image as a file, also one that is pixels."""
    if isinstance(image, bytes):
        return image
    file = BytesIO()
    picture = image if isinstance(image, Image.Image) else Image.fromarray(np.squeeze(image))
    picture.save(file, "PNG", compress_level=0)
    return file.getvalue()


def _fingerprints(crc: int, data: bytes) -> Iterator[Fingerprint]:
    """Yield one of an image's bytes and one of its pixels; of a JPEG at an eighth of its size."""
    yield len(data), crc
    try:
        with Image.open(BytesIO(data)) as image:
            size = image.size
            image.draft(None, (_SIDE, _SIDE))
            pixels = image.convert("RGBA").tobytes()
    except PILLOW_ERRORS:
        return
    yield -1, xxhash.xxh3_64_intdigest(repr(size).encode() + pixels)


def _is_made_of(stored: Stored, data: bytes) -> bool:
    """Return whether an image of the same name was made smaller, or raw, and is alike."""
    difference = _difference(stored, data)
    return difference is not None and difference < _ALIKE


def _difference(stored: Stored, data: bytes) -> float | None:
    """Return by how many levels an image differs, made smaller, or raw; None if one is no image."""
    size, content = (stored.width, stored.height), stored.content
    try:
        with Image.open(BytesIO(data)) as image:
            own = ImageOps.exif_transpose(image).convert("RGB")
        if len(content) == 3 * stored.width * stored.height:
            own, other = ImageOps.fit(own, size), Image.frombytes("RGB", size, content)
        else:
            with Image.open(BytesIO(content)) as opened:
                other = ImageOps.exif_transpose(opened).convert("RGB")
    except PILLOW_ERRORS:
        return None
    small = [np.asarray(one.resize((_COARSE, _COARSE)), np.float32) for one in (own, other)]
    return float(np.abs(small[0] - small[1]).mean())
