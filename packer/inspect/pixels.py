"""Decodes samples in processes whose end is a finding: their bytes may be anybody's.

What ended a process is done again row by row, so that the sample is named at which it happens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from packer.files.transfer import read_span
from packer.inspect.image import contradictions
from packer.inspect.shard import Damage, Findings, Shard
from packer.processes import Crashed, map_isolated
from packer.progress import Advance
from reader.format import FORMATS, FormatError, Index
from reader.format.files import open_regular

if TYPE_CHECKING:
    from reader.samples.whole import WholeSamples

_ROWS = 512  # at a time, to one process


@dataclass(frozen=True)
class Rows:
    """Some samples of a shard.

    Attributes:
        start, stop: rows of its index.
        decode: decode each image and each member as the reader does.
        compare: compare what each image is with what the index says, which may be damaged.
    """

    shard: Shard
    start: int
    stop: int
    decode: bool
    compare: bool

    def __str__(self) -> str:
        return f"{self.shard.file}, samples {self.start} to {self.stop - 1}"

    def single(self) -> Iterator["Rows"]:
        """Each row by itself."""
        for row in range(self.start, self.stop):
            yield replace(self, start=row, stop=row + 1)


@dataclass
class _Looked:
    """What came of looking at some rows.

    Attributes:
        unopened: why the shard could not be opened, if it could not.
    """

    rows: Rows
    damages: list[Damage] = field(default_factory=list)
    unopened: str | None = None


def rows_of(shard: Shard, found: Findings, decode: bool) -> Iterator[Rows]:
    """What there is to look at in a shard of which all but the pixels was checked."""
    decode = decode and shard.entry is not None
    if decode or found.is_doubtful:
        for start in range(0, found.rows, _ROWS):
            stop = min(start + _ROWS, found.rows)
            yield Rows(shard, start, stop, decode, found.is_doubtful)


def look(parts: Sequence[Rows], jobs: int, findings: dict[str, Findings], advance: Advance) -> None:
    """Look at all `parts` in `jobs` processes, and add what is wrong to the findings by file."""
    if not parts:
        return
    processes = max(1, min(jobs, len(parts)))
    looked = [
        _fatal(one.item, one.cause) if isinstance(one, Crashed) else one
        for one in map_isolated(_look, parts, processes, advance, str, Rows.single)
    ]
    for one in sorted(looked, key=lambda one: one.rows.start):
        damages = findings[one.rows.shard.file].damages
        if one.unopened is not None and not damages:  # it was sound a moment ago
            damages.append(Damage(one.rows.shard.file, one.unopened))
        damages += one.damages


def _fatal(rows: Rows, cause: str) -> _Looked:
    """Return the finding that to look at some rows ends the process."""
    if rows.stop - rows.start > 1:
        reason = f"to decode samples {rows.start} to {rows.stop - 1} ended a process ({cause})"
        found = Damage(rows.shard.file, f"{reason}, and none of them by itself did")
    else:
        index = Index(rows.shard.folder / rows.shard.index, mapped=False)
        found = _damage(rows, index, rows.start, f"to decode it ends the process ({cause})")
    return _Looked(rows, [found])


def _damage(rows: Rows, index: Index, row: int, reason: str, ext: str | None = None) -> Damage:
    """A finding about a member, or about the image."""
    ext = ext or _image(index, row)
    start, size = index.span(ext, row) or (0, 0)
    key = index.bytes_of("key", row).decode("utf-8", "replace")
    return Damage(rows.shard.file, reason, key, ext, start, start + size)


def _image(index: Index, row: int) -> str:
    return FORMATS[int(index.columns["format"][row])]


def _look(rows: Rows, advance: Advance) -> _Looked:
    """Look at rows, in whatever process this is."""
    from reader import ReaderError

    looked = _Looked(rows)
    shard = rows.shard
    try:
        index = Index(shard.folder / shard.index, mapped=False)
        with open(open_regular(shard.folder / shard.file), "rb", buffering=0) as tar:
            samples = None
            if rows.decode:
                try:
                    samples = _opened(rows, index)
                except ReaderError as error:
                    looked.unopened = str(error).removesuffix(".")
            for row in range(rows.start, min(rows.stop, len(index))):
                for reason in _contradictions(tar.fileno(), rows, index, row):
                    looked.damages.append(_damage(rows, index, row, reason))
                if samples is not None:
                    for ext, reason in _undecoded(samples, index, row):
                        looked.damages.append(_damage(rows, index, row, reason, ext))
                advance(1)
    except FormatError as error:
        looked.unopened = str(error).removesuffix(".")
    except OSError as error:
        looked.unopened = f"it cannot be read: {error.strerror}"
    return looked


def _opened(rows: Rows, index: Index) -> "WholeSamples":
    """The shard as the reader opens it."""
    from reader.dataset.shard import ReadBuffer, Shard
    from reader.samples.whole import WholeSamples

    entry, limits = rows.shard.entry, rows.shard.limits
    assert entry is not None
    return WholeSamples(Shard(rows.shard.folder, entry, index, ReadBuffer(), limits=limits))


def _undecoded(samples: "WholeSamples", index: Index, row: int) -> Iterator[tuple[str, str]]:
    """The members of a row, by extension, that the reader does not decode, and why."""
    from reader import ReaderError
    from reader.format.errors import DecodeError

    image = _image(index, row)
    for ext in (image, *index.members):
        try:
            if ext == image:
                samples.image(row)
            elif index.span(ext, row) is not None:
                samples.member(row, ext)
        except (DecodeError, ReaderError) as error:
            yield ext, f"it does not decode: {str(error).removesuffix('.')}"
            if ext == image:
                return  # what belongs to it cannot be compared with it


def _contradictions(tar: int, rows: Rows, index: Index, row: int) -> Iterator[str]:
    """What a row's image is not that a doubtful index says it is."""
    span = index.span(_image(index, row), row)
    if not rows.compare or span is None or span[1] > rows.shard.limits.bytes:
        return
    data = read_span(tar, *span)
    if len(data) == span[1]:
        yield from contradictions(index.columns, row, data, rows.shard.limits)
