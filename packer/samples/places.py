"""Places of the bytes of samples, and the one way to read them.

The place of an image or a member is one of these:

    "a/x.png"              a file, relative to the root; None: the file of the sample's name
    [file, group, row, column]   a value in a Parquet or Arrow file
    [file, offset, size]   a span of a file, such as a tar; "" is the root itself
    [file, offset, size, shape]   the same: pixels, [height, width, channels] of uint8
    [file, dataset, row, shape or ""]   of HDF5, -1: the whole dataset; "": it is encoded
    [file, offset, size, packed, crc32]   a file in a zip; offset is that of its local header,
                           packed how many bytes it is deflated to, -1: it is stored
    [bytes, *files]        what the scan has made, of these files
    [bytes, shape]         the same: pixels, [height, width, channels] of uint8
    [offset, size, ...]    one of these, once it is in the spool
    [[height, width, orientation]]   an image that is in another dataset, as it is stored there;
                           behind these the same of its source and whether it was fitted, if
                           packing changed its pixels, see `reader.format.frames`
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import xxhash

from packer.errors import Unreadable, cannot_write
from packer.files.atomic import temporary
from packer.files.snapshot import CHANGED, read_file, read_span, unchanged
from packer.samples.records import Content, Place, Sample
from packer.samples.zip_entries import read_zip_entry
from reader.format.frames import Packed, Picture

_OF_CELL = 4  # elements of such a place


def places_of(sample: Sample) -> Sequence[Place]:
    """Return the place of a sample's image, then of each member."""
    if sample.places or not sample.members:
        return sample.places or (None,)
    stem = os.path.splitext(sample.name)[0]
    return [None, *(f"{stem}.{ext}" for ext in sample.members)]


def place_elsewhere(image: Packed) -> Place:
    """Return the place of an image that another dataset has."""
    source, stored = image.source, image.stored
    found = [*stored.size, stored.orientation]
    if image.is_changed:
        found += [*source.size, source.orientation, int(image.is_fitted)]
    return [found]


def image_elsewhere(places: Sequence[Place]) -> Packed | None:
    """Return the image of a sample if it is in another dataset."""
    match places[0]:
        case [[height, width, orientation, *changed]]:
            stored = Picture(height, width, orientation)
            if not changed:
                return Packed(stored, stored)
            *source, is_fitted = changed
            return Packed(Picture(*source), stored, bool(is_fitted))
    return None


def _is_made(place: Sequence[Any]) -> bool:
    return not isinstance(place[0], str)


class Spool:
    """A file of what a scan makes for samples, written once for all who pack.

    A context manager; leaving it removes what is not finished. The same additions always give the
    same file, so that several packers of one source may write it at a time.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` is made with the first addition."""
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._path = folder
        self._size = 0
        self._checksum = xxhash.xxh3_128()

    def __enter__(self) -> "Spool":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
                self._folder.rmdir()

    def keep(self, places: Sequence[Place]) -> Sequence[Place]:
        """Return places in which all data made by the scan is in the spool."""
        return [self._kept(place) for place in places]

    def finish(self) -> Path | None:
        """Return the file, under a name that its content has; None if nothing was added."""
        if self._file is None:
            return None
        path = self._folder / f"made-{self._checksum.hexdigest()}"
        try:
            self._file.close()
            os.replace(self._path, path)
        except OSError as error:
            raise cannot_write(path, error) from error
        self._file = None
        return path

    def _kept(self, place: Place) -> Place:
        if place is None or isinstance(place, str) or not isinstance(place[0], bytes):
            return place
        data: bytes = place[0]
        try:
            if self._file is None:
                # A hidden one, beside the destination, is for all who pack it.
                mode = 0o777 if self._folder.name.startswith(".") else 0o700
                self._folder.mkdir(mode, parents=True, exist_ok=True)
                self._path = temporary(self._folder / "made")
                self._file = self._path.open("xb", buffering=1 << 20)
            self._file.write(data)
        except OSError as error:
            raise cannot_write(self._folder, error) from error
        self._checksum.update(data)
        offset, self._size = self._size, self._size + len(data)
        return [offset, len(data), *place[1:]]


@dataclass(frozen=True)
class Files:
    root: Path  # what paths are relative to, or an archive
    spool: Path | None = None  # the file of what the scan has made
    identity: str = ""  # see `Reader`

    late = None

    def with_spool(self, path: Path | None) -> "Files":
        return replace(self, spool=path)

    def member_files(self, sample: Sample) -> list[str]:
        stem = os.path.splitext(sample.name)[0]
        found: list[str] = []
        for ext, place in zip(sample.members, places_of(sample)[1:], strict=True):
            if isinstance(place, str):
                found.append(place)
            elif place is not None:
                made = _is_made(place)
                found += [p for p in place if isinstance(p, str)] if made else [f"{stem}.{ext}"]
        return [path for path in found if path != sample.name]

    def read(self, sample: Sample) -> Content:
        parts: list[Any] = []
        newest = 0
        places = places_of(sample)
        own = image_elsewhere(places)
        stored = places[1:] if own else places
        has_made = any(place and not isinstance(place, str) and _is_made(place) for place in stored)
        for place in stored:
            written = 0
            if place is None or isinstance(place, str):
                path = f"{self.root}/{sample.name if place is None else place}"
                data, written = read_file(path, sample.size)
            elif _is_made(place):
                data = self._made(*place)
            else:
                data = self.packed(place, sample.mtime_ns, at_most=has_made)
                written = sample.mtime_ns
            newest = max(newest, written)
            parts.append(data)
        # What the scan has made may come from files that are newer than those that are read here.
        is_same = newest <= sample.mtime_ns if has_made else newest == sample.mtime_ns
        if not is_same or sum(map(len, parts)) != sample.size:
            raise Unreadable(CHANGED)
        if own:
            return Content(own, dict(zip(sample.members, parts, strict=True)))
        image: Any = parts[0]
        if isinstance(places[0], list) and isinstance(shape := places[0][-1], list):
            image = np.frombuffer(image, np.uint8).reshape(shape)
        return Content(image, dict(zip(sample.members, parts[1:], strict=True)))

    def packed(self, place: Sequence[Any], mtime_ns: int, *, at_most: bool = False) -> bytes:
        """Return the bytes at a place in an archive, which was last written at `mtime_ns`.

        `at_most`: or before, if it is a span.
        """
        file, offset, size, *more = place
        path, is_dataset = self.root / file, isinstance(offset, str)
        is_cell = len(place) == _OF_CELL and isinstance(place[-1], str)
        with unchanged(path, mtime_ns, at_most=at_most and not is_cell) as descriptor:
            if is_dataset:
                from packer.samples.hdf5 import item  # which loads h5py

                return item(path, mtime_ns, offset, size)
            if is_cell:
                from packer.samples.cells import cell  # which loads pyarrow

                return cell(path, mtime_ns, offset, size, *more)
            if len(more) > 1:
                return read_zip_entry(descriptor, offset, size, *more)
            return read_span(descriptor, offset, size)

    def _made(self, at: bytes | int, size: Any = 0, *_: Any) -> bytes:
        if isinstance(at, bytes):
            return at
        assert self.spool is not None, "the scan has written it"
        with open(self.spool, "rb", buffering=0) as file:
            return read_span(file.fileno(), at, size)
