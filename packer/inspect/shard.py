"""Checks one shard: every byte of its tar and its index is accounted for, or named.

A tar of ours is determined by its index; of one made elsewhere the members are checked, and all
bytes together.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.files.hashed_file import HashedFile, measure
from packer.inspect.dataset import image_of, label_of, members_of, reason_of
from packer.keys import hashes_of
from packer.progress import Advance
from packer.shards.frames import Frames, doubtful_frames
from packer.shards.shard_writer import index_of
from packer.words import Message, option
from reader.format import FORMATS, FormatError, Index, Limits, ShardEntry, tar
from reader.format.bands import bands_of, read_header
from reader.format.columns import Column
from reader.format.files import open_regular
from reader.format.tiles import table_of

_CHANGED = "its bytes are not those that were packed"


@dataclass(frozen=True)
class Damage:
    file: str  # relative to dataset.json
    reason: str
    key: str | None = None  # of the sample in which it lies
    member: str | None = None  # its extension
    start: int | None = None  # start, stop: the bytes of the tar that are in question
    stop: int | None = None
    lost: int = 0  # samples that are not whole for it, from that one on

    def __str__(self) -> str:
        parts = [self.file]
        if self.key is not None:
            parts.append(f"sample {self.key!r}")
        if self.member is not None:
            parts.append(f"member .{self.member}")
        if self.start is not None:
            one = self.stop is None or self.stop == self.start + 1
            parts.append(f"byte {self.start}" if one else f"bytes {self.start} to {self.stop}")
        return f"{', '.join(parts)}: {self.reason}."


@dataclass(frozen=True)
class Shard:
    folder: Path
    file: str
    entry: ShardEntry | None  # of dataset.json; None where that cannot be read
    classes: int | None  # how many there are; None where that is not known
    external: bool  # whether its tar was made elsewhere
    limits: Limits = field(default_factory=Limits)

    @property
    def index(self) -> str:
        return index_of(Path(self.file)).as_posix()


@dataclass
class Findings:
    file: str
    damages: list[Damage] = field(default_factory=list)
    samples: int = 0  # samples, bytes: that were checked
    bytes: int = 0
    # One a sample; equal keys have equal hashes.
    key_hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    rows: int = 0  # of its index, 0 where that cannot be used
    is_doubtful: bool = False  # whether nobody proves that the index is right
    frames: Frames = field(default_factory=dict)  # that its index has as doubtful


def check_shard(shard: Shard, advance: Advance) -> Findings:
    """Check tar and index, sample by sample, in memory for the index and one image."""
    found = Findings(shard.file)
    index, proven = _open_index(shard, found)
    walked = len(found.damages)  # what the walk finds comes behind these
    try:
        with open(open_regular(shard.folder / shard.file), "rb", buffering=0) as file:
            tar_file = HashedFile(file.fileno())
            if index is not None:
                found.rows, found.is_doubtful = len(index), not proven
                found.frames = doubtful_frames(index)
                _Walk(shard, index, tar_file, found).run(advance)
            tar_file.finish()
    except OSError as error:
        found.damages.append(Damage(shard.file, reason_of(error)))
        return found
    found.bytes = tar_file.size
    claims = [("dataset.json", shard.entry.bytes, shard.entry.checksum)] if shard.entry else []
    if index is not None and proven is not True:
        claims.append(("its index", index.tar_bytes, index.tar_checksum))
    located = any(damage.start is not None for damage in found.damages[walked:])
    for who, size, checksum in claims:
        wrong_size = Damage(shard.file, f"it has {tar_file.size} bytes, and {who} has {size}")
        if tar_file.size < size:  # the cause of what was found in it
            found.damages.insert(walked, wrong_size)
        elif located:
            break  # that is why its size or its checksum differs
        elif tar_file.size > size:
            found.damages.append(wrong_size)
        elif tar_file.checksum != checksum:
            reason = f"its checksum is {tar_file.checksum}, and {who} has {checksum}"
            found.damages.append(Damage(shard.file, reason))
    return found


def _open_index(shard: Shard, found: Findings) -> tuple[Index | None, bool | None]:
    def damaged(reason: str) -> None:
        found.damages.append(Damage(shard.index, reason))

    proven = None
    try:
        if shard.entry is not None:
            _, checksum = measure(shard.folder / shard.index)
            proven = checksum == shard.entry.index_checksum
            if not proven:
                claim = f"dataset.json has {shard.entry.index_checksum}"
                damaged(f"its checksum is {checksum}, and {claim}")
        index = Index(shard.folder / shard.index, mapped=False)
    except (OSError, FormatError) as error:
        damaged(reason_of(error))
        return None, False
    if shard.entry is not None and len(index) != shard.entry.samples:
        damaged(f"it has {len(index)} samples, and dataset.json has {shard.entry.samples}")
    return index, proven


class _Walk:
    def __init__(self, shard: Shard, index: Index, tar_file: HashedFile, found: Findings) -> None:
        self._shard, self._index, self._tar, self._found = shard, index, tar_file, found
        self._end = 0  # of the members so far

    def run(self, advance: Advance) -> None:
        """Check row after row, then the end."""
        index, found, file = self._index, self._found, self._shard.file
        keys = index.values_of("key")
        found.key_hashes = hashes_of(keys)
        for row, raw in enumerate(keys):
            if self._is_cut(row):
                lost = len(keys) - row
                reason = f"the tar ends before its end; samples not whole: {lost}"
                found.damages.append(Damage(file, reason, raw.decode(errors="replace"), lost=lost))
                break
            try:
                self._row(row, raw.decode("utf-8"))
            except UnicodeDecodeError:
                reason = f"the key of row {row} is not UTF-8"
                found.damages.append(Damage(self._shard.index, reason))
            found.samples += 1
            advance(1)
        else:
            if self._shard.external:
                return
            present, end = self._tar.read(self._end, len(tar.END)), self._end + len(tar.END)
            if present != tar.END:
                at = self._end + _first_difference(present, tar.END)
                found.damages.append(Damage(file, "the zeros that end it are missing", start=at))
            elif self._tar.size > end:
                found.damages.append(Damage(file, "more bytes follow after its end", start=end))

    def _is_cut(self, row: int) -> bool:
        size = self._tar.size
        if self._end > size or size >= self._index.tar_bytes:
            return self._end > size
        return any(sum(span) > size for span in members_of(self._index, row).values())

    def _row(self, row: int, key: str) -> None:
        index, ours = self._index, not self._shard.external
        image, spans = image_of(index, row), members_of(index, row)
        members = sorted((offset, ext, size) for ext, (offset, size) in spans.items())

        def damaged(reason: str, member: str | None = None, *place: int) -> None:
            self._found.damages.append(Damage(self._shard.file, reason, key, member, *place))

        if ours and image and members[0][1] != image:
            damaged("its image is not its first member", members[0][1])
        for offset, ext, size in members:
            if ours:
                offset = self._check_header(f"{key}.{ext}", offset, size, damaged, ext)
            for fault in self._member_faults(row, ext, offset, size):
                damaged(fault, ext, offset, offset + size)
            if ours:
                padding = tar.padding(offset + size)
                present = self._tar.read(offset + size, len(padding))
                if present != padding:
                    at = offset + size + _first_difference(present, padding)
                    damaged("the zeros behind it are not zero", ext, at)
                self._end = offset + tar.padded(size)
        self._check_label(row, spans.get("cls"), damaged)

    def _member_faults(self, row: int, ext: str, offset: int, size: int) -> Iterator[str]:
        columns, most = self._index.columns, self._shard.limits.bytes
        if ext == image_of(self._index, row):
            if (reason := beyond(columns, row, self._shard.limits)) is not None:
                yield reason
            if size > most:
                most_bytes = option("max_bytes")
                yield Message(f"it has {size} bytes; {most} are looked at (", most_bytes, ")")
            else:
                yield from image_faults(columns, row, self._tar.read(offset, size))
            return
        crc32 = columns.get(f"{ext}.crc32")
        if crc32 is not None and self._tar.crc32(offset, size) != crc32[row]:
            yield _CHANGED
        if f"{ext}.band" in columns and size <= most:
            data, table = self._tar.read(offset, size), bands_of(columns, row, ext)
            yield from _table_faults(columns, row, data, "bands", table)

    def _check_header(
        self, name: str, offset: int, size: int, damaged: Callable[..., None], ext: str
    ) -> int:
        """Compare a member's header with what it must be; where the member's data begins."""
        header = tar.header(name, size)
        start, claimed = self._end, offset - len(header)
        present = self._tar.read(start, len(header))
        if claimed != start and present == header:
            damaged(
                f"it begins at another byte than in its index, {offset}", ext, start + len(header)
            )
        elif claimed != start and claimed >= 0:  # the size of the member before it was wrong
            start, present = claimed, self._tar.read(claimed, len(header))
        if present != header:
            at = _first_difference(present, header)
            reason = "the tar ends within its header"
            if at < len(present):
                reason = f"its header has {present[at]:#04x} there and not {header[at]:#04x}"
            damaged(reason, ext, start + at)
        return start + len(header)

    def _check_label(
        self, row: int, span: tuple[int, int] | None, damaged: Callable[..., None]
    ) -> None:
        label = label_of(self._index, row)
        if label < -1 or (self._shard.classes is not None and label >= self._shard.classes):
            damaged(f"its label {label} is none of the {self._shard.classes} classes")
        if self._shard.external:
            return
        if span is None and label >= 0:
            damaged(f"its label is {label}, but it has no member .cls")
        elif (
            span is not None
            and self._index.has_images
            and (span[1] > 32 or self._tar.read(*span) != b"%d" % label)
        ):
            damaged(f"it does not hold the label {label}", "cls", span[0], sum(span))


def _first_difference(present: memoryview, expected: bytes) -> int:
    pairs = enumerate(zip(present, expected, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(present), len(expected)))


def beyond(columns: Mapping[str, Column], row: int, limits: Limits) -> str | None:
    """Return why a row's image is not decoded: its index has too many pixels; None: it may be."""
    size = [int(columns[name][row]) for name in ("width", "height") if name in columns]
    if not size or size[0] * size[1] <= limits.pixels:
        return None
    size_of_it = f"it has {size[0]} x {size[1]} pixels; {limits.pixels} are decoded ("
    return Message(size_of_it, option("max_pixels"), ")")


def image_faults(columns: Mapping[str, Column], row: int, data: memoryview) -> Iterator[str]:
    """Yield the faults of a row's image, whose bytes are `data`, without decoding it."""
    if zlib.crc32(data) != columns["crc32"][row]:
        yield _CHANGED
    if FORMATS[int(columns["format"][row])] == "raw":
        shape = [int(columns[name][row]) for name in ("height", "width", "channels")]
        if len(data) != shape[0] * shape[1] * shape[2]:
            yield f"{len(data)} bytes are not {' x '.join(map(str, shape))} values"
    if "segment" in columns:
        yield from _table_faults(columns, row, data, "segments", table_of(columns, row))
    yield from _table_faults(columns, row, data, "bands", bands_of(columns, row))


def _table_faults(
    columns: Mapping[str, Column], row: int, data: memoryview, what: str, table: Any
) -> Iterator[str]:
    try:
        if table is None:
            return
        size: Any = [columns[name][row] for name in ("height", "width") if name in columns]
        if not size and (header := read_header(data)) is not None:  # the image is elsewhere
            size = header.height, header.width
        table.check(data, *map(int, size or (0, 0)))
    except ValueError as error:
        yield f"its {what} are not where its index places them ({error})"
