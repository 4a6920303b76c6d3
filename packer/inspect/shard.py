"""Checks one shard: every byte of its tar and its index is accounted for, or named.

A tar of ours is determined by its index: headers, padding and end are compared with what the writer
would have written, members with their checksums. Of a tar made elsewhere the members are checked,
and all bytes together.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from packer.files.hashed_file import HashedFile, measure
from packer.inspect.image import CHANGED, band_faults, image_faults
from packer.keys import hashes_of
from reader.format import FORMATS, FormatError, Index, Limits, ShardEntry, tar
from reader.format.files import open_regular


@dataclass(frozen=True)
class Damage:
    """Something that is not as it was written.

    Attributes:
        file: relative to dataset.json.
        reason: what is wrong with it.
        key: of the sample in which it lies, if it lies in one.
        member: the extension of the member.
        start, stop: the bytes of the tar that are in question.
        lost: samples that are not whole for it, from that one on.
    """

    file: str
    reason: str
    key: str | None = None
    member: str | None = None
    start: int | None = None
    stop: int | None = None
    lost: int = 0

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
    """What a shard should be.

    Attributes:
        entry: what dataset.json says of it; None where that cannot be read.
        classes: how many there are; None where that is not known.
        external: whether its tar was made elsewhere.
        limits: of its images.
    """

    folder: Path
    file: str
    entry: ShardEntry | None
    classes: int | None
    external: bool
    limits: Limits = field(default_factory=Limits)

    @property
    def index(self) -> str:
        """The index file's name, relative to `folder`."""
        return str(PurePosixPath(self.file).with_suffix(".safetensors"))


@dataclass
class Findings:
    """What a shard is.

    Attributes:
        samples, bytes: that were checked.
        key_hashes: uint64, one a sample: equal keys have equal hashes.
        rows: of its index, 0 where that cannot be used.
        is_doubtful: whether nobody proves that the index is right.
    """

    file: str
    damages: list[Damage] = field(default_factory=list)
    samples: int = 0
    bytes: int = 0
    key_hashes: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    rows: int = 0
    is_doubtful: bool = False


def check_shard(shard: Shard, tick: Callable[[], None]) -> Findings:
    """Check tar and index; `tick` is called after each sample. No image is decoded.

    Memory: the index and the largest image.
    """
    found = Findings(shard.file)
    index, proven = _open_index(shard, found)
    walked = len(found.damages)  # what the walk finds comes behind these
    try:
        with open(open_regular(shard.folder / shard.file), "rb", buffering=0) as file:
            tar_file = HashedFile(file.fileno())
            if index is not None:
                found.rows, found.is_doubtful = len(index), not proven
                _Walk(shard, index, tar_file, found).run(tick)
            tar_file.finish()
    except OSError as error:
        found.damages.append(Damage(shard.file, f"it cannot be read: {error.strerror}"))
        return found
    found.bytes = tar_file.size
    claims = [("dataset.json", shard.entry.bytes, shard.entry.checksum)] if shard.entry else []
    if index is not None and proven is not True:
        claims.append(("its index", index.tar_bytes, index.tar_checksum))
    located = any(damage.start is not None for damage in found.damages[walked:])
    for who, size, checksum in claims:
        if tar_file.size < size:  # the cause of what was found in it
            reason = f"it has {tar_file.size} bytes, {who} says {size}"
            found.damages.insert(walked, Damage(shard.file, reason))
        elif located:
            break  # that is why its size or its checksum differs
        elif tar_file.size > size:
            reason = f"it has {tar_file.size} bytes, {who} says {size}"
            found.damages.append(Damage(shard.file, reason))
        elif tar_file.checksum != checksum:
            reason = f"its checksum is {tar_file.checksum}, {who} says {checksum}"
            found.damages.append(Damage(shard.file, reason))
    return found


def _open_index(shard: Shard, found: Findings) -> tuple[Index | None, bool | None]:
    """The index if it can be used, and whether its checksum is right (None: nobody says)."""
    proven = None
    try:
        if shard.entry is not None:
            _, checksum = measure(shard.folder / shard.index)
            proven = checksum == shard.entry.index_checksum
            if not proven:
                claim = f"dataset.json says {shard.entry.index_checksum}"
                found.damages.append(Damage(shard.index, f"its checksum is {checksum}, {claim}"))
        index = Index(shard.folder / shard.index, mapped=False)
    except OSError as error:
        found.damages.append(Damage(shard.index, f"it cannot be read: {error.strerror}"))
        return None, False
    except FormatError as error:
        found.damages.append(Damage(shard.index, str(error).removesuffix(".")))
        return None, False
    if shard.entry is not None and len(index) != shard.entry.samples:
        reason = f"it has {len(index)} samples, dataset.json says {shard.entry.samples}"
        found.damages.append(Damage(shard.index, reason))
    return index, proven


class _Walk:
    """Goes through a tar by its index."""

    def __init__(self, shard: Shard, index: Index, tar_file: HashedFile, found: Findings) -> None:
        self._shard = shard
        self._index = index
        self._tar = tar_file
        self._found = found
        self._end = 0  # of the members so far

    def run(self, tick: Callable[[], None]) -> None:
        """Check row after row, then the end."""
        index, found = self._index, self._found
        keys = index.values_of("key")
        found.key_hashes = hashes_of(keys)
        for row, raw in enumerate(keys):
            if self._is_cut(row):
                lost = len(keys) - row
                reason = f"the tar ends before its end; samples not whole: {lost}"
                key = raw.decode("utf-8", "replace")
                found.damages.append(Damage(self._shard.file, reason, key, lost=lost))
                break
            try:
                self._row(row, raw.decode("utf-8"))
            except UnicodeDecodeError:
                found.damages.append(
                    Damage(self._shard.index, f"the key of row {row} is not UTF-8")
                )
            found.samples += 1
            tick()
        else:
            if not self._shard.external:
                self._check_end()

    def _is_cut(self, row: int) -> bool:
        """Whether the tar ends before the last member of a row does."""
        index, size = self._index, self._tar.size
        if self._end > size or size >= index.tar_bytes:
            return self._end > size
        image = FORMATS[int(index.columns["format"][row])]
        spans = (index.span(ext, row) for ext in (image, *index.members))
        return any(sum(span) > size for span in spans if span is not None)

    def _row(self, row: int, key: str) -> None:
        index = self._index
        columns = index.columns
        image = FORMATS[int(columns["format"][row])]
        spans = {ext: index.span(ext, row) for ext in [image, *index.members]}
        members = sorted((span[0], ext, span[1]) for ext, span in spans.items() if span is not None)

        def damaged(reason: str, member: str | None = None, *place: int) -> None:
            self._found.damages.append(Damage(self._shard.file, reason, key, member, *place))

        if members[0][1] != image and not self._shard.external:
            damaged("its image is not its first member", members[0][1])
        for offset, ext, size in members:
            if not self._shard.external:
                offset = self._check_header(f"{key}.{ext}", offset, size, damaged, ext)
            for fault in self._member_faults(row, ext, offset, size):
                damaged(fault, ext, offset, offset + size)
            if not self._shard.external:
                self._check_padding(offset + size, damaged, ext)
                self._end = offset + tar.padded(size)
        self._check_label(row, spans.get("cls"), damaged)

    def _member_faults(self, row: int, ext: str, offset: int, size: int) -> Iterable[str]:
        columns = self._index.columns
        if ext == FORMATS[int(columns["format"][row])]:
            limits = self._shard.limits
            if size > limits.bytes:
                return [f"it has {size} bytes; {limits.bytes} are looked at (--max-bytes)"]
            return image_faults(columns, row, self._tar.read(offset, size))
        faults = []
        if f"{ext}.crc32" in columns:
            same = self._tar.crc32(offset, size) == columns[f"{ext}.crc32"][row]
            faults += [] if same else [CHANGED]
        if f"{ext}.band" in columns and size <= self._shard.limits.bytes:
            faults += band_faults(columns, row, self._tar.read(offset, size), ext)
        return faults

    def _check_header(
        self, name: str, offset: int, size: int, damaged: Callable[..., None], ext: str
    ) -> int:
        """Compare a member's header with what it must be; where the member's data begins."""
        header = tar.header(name, size)
        start, claimed = self._end, offset - len(header)
        present = self._tar.read(start, len(header))
        if claimed != start and present == header:
            damaged(f"its index says that it begins at byte {offset}", ext, start + len(header))
        elif claimed != start and claimed >= 0:  # the size of the member before it was wrong
            start, present = claimed, self._tar.read(claimed, len(header))
        if present != header:
            at = _first_difference(present, header)
            if at == len(present):
                reason = "the tar ends within its header"
            else:
                reason = f"its header has {present[at]:#04x} there and not {header[at]:#04x}"
            damaged(reason, ext, start + at)
        return start + len(header)

    def _check_padding(self, end: int, damaged: Callable[..., None], ext: str) -> None:
        padding = tar.padding(end)
        present = self._tar.read(end, len(padding))
        if present != padding:
            damaged(
                "the zeros behind it are not zero", ext, end + _first_difference(present, padding)
            )

    def _check_label(
        self, row: int, span: tuple[int, int] | None, damaged: Callable[..., None]
    ) -> None:
        label = int(self._index.columns["label"][row])
        if label < -1 or (self._shard.classes is not None and label >= self._shard.classes):
            damaged(f"its label {label} is none of the {self._shard.classes} classes")
        if self._shard.external:
            return
        if span is None:
            if label >= 0:
                damaged(f"its label is {label}, but it has no member .cls")
        elif span[1] > 32 or self._tar.read(*span) != b"%d" % label:
            damaged(f"it does not hold the label {label}", "cls", span[0], sum(span))

    def _check_end(self) -> None:
        present = self._tar.read(self._end, len(tar.END))
        if present != tar.END:
            at = self._end + _first_difference(present, tar.END)
            self._found.damages.append(
                Damage(self._shard.file, "the zeros that end it are missing", start=at)
            )
        elif self._tar.size > self._end + len(tar.END):
            reason = "more bytes follow after its end"
            self._found.damages.append(
                Damage(self._shard.file, reason, start=self._end + len(tar.END))
            )


def _first_difference(present: memoryview, expected: bytes) -> int:
    """The first position where they differ, their length where one begins with the other."""
    for at, (one, other) in enumerate(zip(present, expected, strict=False)):
        if one != other:
            return at
    return min(len(present), len(expected))
