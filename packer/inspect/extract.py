"""`packer extract`: gives the files of a dataset back, under their original names."""

import io
import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash
from PIL import Image

from packer.errors import UnusableInput
from packer.files.hashed_file import read_span
from packer.files.names import OutputFolder, Refused
from packer.inspect.dataset import image_of, label_of, members_of, reason_of
from packer.keys import Hashes, hashes_of, repeated_rows, unescape
from packer.plan.scan import is_numbered
from packer.processes import map_unordered
from packer.progress import QUIET, Advance, Progress
from packer.sources.trees.names import splits_of
from packer.storage.dataset import Finished
from packer.words import many, typed
from reader.format import FormatError, Index, Limits, ShardEntry
from reader.format.bands import bands_of
from reader.format.files import open_regular
from reader.format.members import picture_format
from reader.store.urls import is_url

_CHUNK = 1 << 22
_NO_NAMES = (b"", b"..")  # which are refused


@dataclass
class ExtractReport:
    out: str
    written: int = 0
    present: int = 0  # files that were there already, with the same content
    bytes: int = 0
    tiled: int = 0  # JPEGs among them that packing transcoded: the same pixels in other bytes
    banded: int = 0  # the same of PNGs
    raw: int = 0  # images that were stored as pixels, given back as PNG
    members: int = 0  # files written by the keys of their samples, wherever the source had them
    unlabelled: int = 0  # unlabelled, unsplit: samples whose class or split no name holds
    unsplit: int = 0
    reencoded: bool = False  # whether packing resized or re-encoded images
    resized: int = 0  # images among them whose members keep the coordinates of the source
    seconds: float = 0.0
    refused: list[tuple[str, str]] = field(default_factory=list)  # files and shards, reasons


class _File(NamedTuple):
    name: bytes
    row: int
    ext: str
    offset: int
    size: int
    is_image: bool


def extract(
    dataset: Finished,
    out: Path,
    jobs: int,
    split: str | None = None,
    overwrite: bool = False,
    progress: Progress = QUIET,
) -> ExtractReport:
    began, content, shards = time.monotonic(), dataset.content, dataset.shards(split)
    if dataset.folder.resolve() in (out.resolve(), *out.resolve().parents):
        raise UnusableInput(f"{out} is inside the dataset {dataset}. Choose another folder.")
    labels = _Labels(content.classes, content.external)
    total = ExtractReport(str(out))
    names = _Names(dataset, shards, labels)
    work = _Extraction(dataset, out, overwrite, labels, names.repeated())
    samples = sum(shard.samples for shard in shards)
    with (
        OutputFolder(out, overwrite) as folder,
        progress.phase("extract", samples, "samples") as advance,
    ):
        folder.hold(names.folders, names.hashes.values())
        for part in map_unordered(work.shard, shards, jobs, advance, attrgetter("file")):
            for name in vars(part).keys() - {"out"}:
                setattr(total, name, getattr(total, name) + getattr(part, name))
    total.reencoded = any(content.options.get(name) for name in ("max_side", "quality"))
    total.refused.sort()
    total.seconds = time.monotonic() - began
    return total


class _Labels:
    """Where the class of a sample is kept: in a folder's name, or, if it is a number, in a file."""

    def __init__(self, classes: Sequence[str], external: bool) -> None:
        self._classes = classes
        self._is_numbered = is_numbered(classes)
        self._always = external or not classes

    def in_name(self, name: bytes, label: int) -> bool:
        known = 0 <= label < len(self._classes)
        return known and self._classes[label] in os.fsdecode(name).split("/")[:-1]

    def in_file(self, name: bytes, label: int) -> bool:
        return self._always or (self._is_numbered and not self.in_name(name, label))

    def files(self, index: Index, row: int) -> Iterator[_File]:
        """Yield the files of one sample: the image by its original name, sidecars beside it."""
        name = index.bytes_of("name", row)
        labelled = self.in_file(name, label_of(index, row))
        image = image_of(index, row)
        stem, members = os.fsencode(unescape(index.key(row))), members_of(index, row)
        if image == "raw" and not name.lower().endswith(b".png"):
            belongs = name.startswith(stem) and "png" not in members  # to what is beside it
            name = (stem if belongs else name) + b".png"
        elif image and not (name in _NO_NAMES or _is_picture(name)):  # a key of code or a row
            name += b"." + image.encode()
        for ext, span in members.items():
            if labelled or ext != "cls":
                own = name if ext == image else stem + b"." + ext.encode()
                yield _File(own, row, ext, *span, ext == image)


def _is_picture(name: bytes) -> bool:
    return picture_format(os.path.splitext(os.fsdecode(name).lower())[1][1:]) is not None


class _Names:
    """The names of all files: their folders, and hashes of them for each shard."""

    def __init__(self, dataset: Finished, shards: list[ShardEntry], labels: _Labels) -> None:
        self.folders: set[bytes] = set()
        self.hashes: dict[str, Hashes] = {}
        for shard in shards:
            with suppress(FormatError):  # its extraction names it
                index = dataset.index(shard)
                self.hashes[shard.file] = hashes_of(self._of(index, labels))

    def _of(self, index: Index, labels: _Labels) -> Iterator[bytes]:
        for row in range(len(index)):
            for file in labels.files(index, row):
                self.folders.add(file.name.rpartition(b"/")[0])
                yield file.name

    def repeated(self) -> dict[int, str]:
        """Return hashes of the names that occur repeatedly, and the shard where each is first."""
        first: dict[int, str] = {}
        again = repeated_rows(list(self.hashes.values()))
        for (name, found), rows in zip(self.hashes.items(), again, strict=True):
            for value in found[rows].tolist():
                first.setdefault(value, name)
        return first


@dataclass(frozen=True)
class _Extraction:
    dataset: Finished
    out: Path
    overwrite: bool
    labels: _Labels
    repeated_names: Mapping[int, str]  # of hashes of names, the shard where each is first

    def shard(self, entry: ShardEntry, advance: Advance) -> ExtractReport:
        report, labels, repeated = ExtractReport(str(self.out)), self.labels, self.repeated_names
        try:
            index = self.dataset.index(entry)
            descriptor = open_regular(self.dataset.folder / entry.file)
        except (FormatError, OSError) as error:
            reason = reason_of(error)
            if isinstance(error, OSError):
                reason += "; restore it from a copy"
                if not is_url(self.dataset.place):
                    place = str(self.dataset)
                    reason += (
                        f", or run `{typed('repair', place, '--from', 'SRC')}` with its source"
                    )
            lost = f"none of its {many(entry.samples, 'sample')} is written"
            report.refused.append((entry.file, f"{reason}; {lost}"))
            return report
        had: set[int] = set()
        with (
            open(descriptor, "rb", buffering=0) as tar,
            OutputFolder(self.out, self.overwrite) as folder,
        ):
            for row in range(len(index)):
                label, source = label_of(index, row), index.bytes_of("name", row)
                is_kept = labels.in_name(source, label) or labels.in_file(source, label)
                report.unlabelled += label >= 0 and not is_kept
                folders = os.fsdecode(source).split("/")[:-1]
                splits = {name for folder in folders for name in splits_of([folder]).values()}
                report.unsplit += entry.split not in {"", *folders, *splits}
                for file in labels.files(index, row):
                    name = xxhash.xxh3_64_intdigest(file.name)
                    try:
                        if repeated.get(name, entry.file) != entry.file or name in had:
                            raise Refused("another file of the dataset has the same name")
                        had |= {name} & repeated.keys()
                        self._write(index, tar.fileno(), file, folder, report)
                    except (Refused, OSError) as error:
                        reason = getattr(error, "strerror", None) or str(error)
                        report.refused.append((os.fsdecode(file.name), reason))
                advance(1)
        return report

    def _write(
        self, index: Index, tar: int, file: _File, folder: OutputFolder, report: ExtractReport
    ) -> None:
        columns = index.columns
        checksum = columns.get("crc32" if file.is_image else f"{file.ext}.crc32")
        if checksum is not None:
            crc = reduce(lambda crc, chunk: zlib.crc32(chunk, crc), _chunks(tar, file), 0)
            if crc != checksum[file.row]:
                raise Refused(
                    "its bytes in the shard are damaged; "
                    f"`{typed('verify', self.dataset)}` lists all damages"
                )
        png = [_png(index, file, tar)] if file.ext == "raw" else None
        size = len(png[0]) if png else file.size
        new = folder.write(file.name, size, lambda: png or _chunks(tar, file))
        report.raw += png is not None
        report.written += new
        report.present += not new
        report.bytes += file.size
        report.members += not file.is_image and file.ext != "cls"
        if file.is_image and index.tiled:
            first, last = columns["segment_offset"][file.row : file.row + 2]
            report.tiled += int(first < last)
        if file.is_image and "source_height" in columns:
            report.resized += int(columns["source_height"][file.row] > 0)
        report.banded += bands_of(columns, file.row, "" if file.is_image else file.ext) is not None


def _chunks(tar: int, file: _File) -> Iterator[bytes]:
    end = file.offset + file.size
    for start in range(file.offset, end, _CHUNK):
        chunk = read_span(tar, start, min(_CHUNK, end - start))
        if len(chunk) != min(_CHUNK, end - start):
            raise Refused("its shard was cut short")
        yield chunk


def _png(index: Index, file: _File, tar: int) -> bytes:
    height, width, channels = (
        int(index.columns[name][file.row]) for name in ("height", "width", "channels")
    )
    if not 0 < height * width * channels == file.size:
        raise Refused(f"{file.size} bytes are not {width} x {height} pixels of {channels} bytes")
    if file.size > (most := Limits().bytes):
        raise Refused(f"its pixels have {file.size} bytes; {most} are the most that become a PNG")
    pixels = np.frombuffer(b"".join(_chunks(tar, file)), np.uint8)
    shape = (height, width) if channels == 1 else (height, width, channels)
    png = io.BytesIO()
    Image.fromarray(pixels.reshape(shape)).save(png, "PNG")
    return png.getvalue()
