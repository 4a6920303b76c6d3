"""`packer verify`: proves that a dataset is what was written, or names what is not.

A crash of a process that decodes samples is a finding: they are then decoded one by one.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from packer.errors import BadImage
from packer.files.hashed_file import read_span
from packer.images.probe import probe
from packer.inspect.dataset import image_of, members_of, reason_of
from packer.inspect.shard import Damage, Findings, Shard, beyond, check_shard
from packer.isolated import Crashed, map_isolated
from packer.keys import repeated_rows
from packer.plan.names import SHARD
from packer.processes import map_unordered
from packer.progress import QUIET, Advance, Progress
from packer.run.log import JOURNAL, kept_files
from packer.shards.frames import Frames, add_frames, frame_lines
from packer.shards.joined import joined_damages
from packer.storage.dataset import Finished, names_in
from reader.decode.bands import cut_bands
from reader.format import FORMATS, FormatError, Index, Limits, manifest
from reader.format.bands import bands_of
from reader.format.columns import Column
from reader.format.files import open_regular
from reader.format.pictures import opened

_ROWS = 512  # at a time, to one process


@dataclass(frozen=True)
class VerifyReport:
    dataset: str
    shards: int
    samples: int  # that were checked
    lost: int  # samples that cannot be had: their shard is cut short, or it or its index is missing
    bytes: int
    seconds: float
    damages: list[Damage]  # each finding; a sample may have several, and one may be of a whole file
    unlisted: list[str]  # shards and indexes that lie there, and are of no dataset
    frames: list[str] = field(default_factory=list)  # sentences on coordinates of doubtful pictures

    @property
    def damaged(self) -> set[tuple[str, str]]:
        """Shard and key of each sample that is damaged, and not lost."""
        found = (damage for damage in self.damages if not damage.lost)
        return {(damage.file, damage.key) for damage in found if damage.key is not None}


def verify(
    dataset: Finished,
    jobs: int,
    decode: bool = False,
    progress: Progress = QUIET,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> VerifyReport:
    """Check every byte of a dataset, its shards in `jobs` processes.

    `decode`: also decode every image, and what belongs to it. An image beyond `limits` is named and
    not decoded. Memory: 8 bytes a sample, and in each process an index and the largest image.
    """
    began = time.monotonic()
    damages: list[Damage] = []
    shards = _shards(dataset, damages, limits)
    total = sum(shard.entry.samples for shard in shards if shard.entry)
    with progress.phase("verify", total or None, "samples") as advance:
        checked = map_unordered(check_shard, shards, jobs, advance, lambda shard: shard.file)
        by_file = {found.file: found for found in checked}
    findings = {shard: by_file[shard.file] for shard in shards}
    parts = [part for shard, found in findings.items() for part in _rows_of(shard, found, decode)]
    if parts:
        doing = "decode" if any(part.decode for part in parts) else "compare"
        with progress.phase(doing, sum(len(part.rows) for part in parts), "samples") as advance:
            looked = [
                _fatal(one.item, one.cause) if isinstance(one, Crashed) else one
                for one in map_isolated(_look, parts, jobs, advance, str, _Rows.single)
            ]
        for rows in sorted(looked, key=lambda one: one.rows.rows.start):
            found = findings[rows.rows.shard]
            if rows.unopened is not None and not found.damages:  # it was sound a moment ago
                found.damages.append(Damage(found.file, rows.unopened))
            found.damages += rows.damages
    damages += (damage for found in findings.values() for damage in found.damages)
    damages += _repeated_keys(findings)
    lost = sum(
        max((shard.entry.samples if shard.entry else found.rows) - found.samples, 0)
        for shard, found in findings.items()
    )
    samples = sum(found.samples for found in by_file.values())
    size = sum(found.bytes for found in by_file.values())
    seconds = time.monotonic() - began
    others = _unlisted(dataset)
    frames: Frames = {}
    for found in by_file.values():
        add_frames(frames, found.frames)
    counts = len(shards), samples, lost, size, seconds
    return VerifyReport(str(dataset), *counts, damages, others, frame_lines(frames))


def _shards(dataset: Finished, damages: list[Damage], limits: Limits) -> list[Shard]:
    dst = dataset.folder
    try:
        content = dataset.content
    except FormatError as error:
        if not (dst / manifest.FILENAME).is_file():
            raise
        damages.append(Damage(manifest.FILENAME, reason_of(error)))
        files = sorted(path.relative_to(dst) for path in dst.rglob("*.tar"))
        return [Shard(dst, file.as_posix(), None, None, False, limits) for file in files]
    if (dst / manifest.FILENAME).read_bytes() != content.dump().encode():
        damages.append(Damage(manifest.FILENAME, "it has the same content in other bytes"))
    if content.joined:
        damages += (Damage(manifest.JOINED, why) for why in joined_damages(dst, content))
    known = len(content.classes), content.external, limits
    return [Shard(dst, entry.file, entry, *known) for entry in content.shards]


def _unlisted(dataset: Finished) -> list[str]:
    """Return shards beside a dataset that are of no dataset and of no unfinished run."""
    try:
        known = kept_files(dataset.content)
    except FormatError:
        return []
    names = names_in(dataset.place)
    found = [PurePosixPath(name) for name in names]
    owned = {path.parent for path in found if path.name in (manifest.FILENAME, JOURNAL)}
    if JOURNAL not in names:
        owned.discard(PurePosixPath())
    others = (path for path in found if SHARD.fullmatch(str(path)) and str(path) not in known)
    return sorted(str(path) for path in others if owned.isdisjoint(path.parents))


def _repeated_keys(findings: Mapping[Shard, Findings]) -> Iterator[Damage]:
    """The samples whose key another one has had before: hashes first, then the keys themselves."""
    again = repeated_rows([found.key_hashes for found in findings.values()])
    first: dict[bytes, str] = {}
    for shard, rows in zip(findings, again, strict=True):
        if not rows:
            continue
        try:
            index = Index(shard.folder / shard.index, mapped=False)
        except FormatError as error:  # it was sound a while ago
            yield Damage(shard.index, reason_of(error))
            continue
        for row in rows:
            key = index.bytes_of("key", row)
            if key in first:
                reason = f"{first[key]} has a sample with the same key"
                yield Damage(shard.file, reason, key.decode(errors="replace"))
            first.setdefault(key, shard.file)


@dataclass(frozen=True)
class _Rows:
    shard: Shard
    rows: range  # of its index
    decode: bool  # decode each image and each member as the reader does
    compare: bool  # compare what each image is with what the index says, which may be damaged

    def __str__(self) -> str:
        return f"{self.shard.file}, samples {self.rows.start} to {self.rows.stop - 1}"

    def single(self) -> Iterator["_Rows"]:
        """Yield each row separately."""
        return (replace(self, rows=range(row, row + 1)) for row in self.rows)


@dataclass
class _Looked:
    rows: _Rows
    damages: list[Damage] = field(default_factory=list)
    unopened: str | None = None  # why the shard could not be opened, if it could not


def _rows_of(shard: Shard, found: Findings, decode: bool) -> Iterator[_Rows]:
    decode, rows = decode and shard.entry is not None, range(found.rows)
    for start in rows[::_ROWS] if decode or found.is_doubtful else ():
        yield _Rows(shard, rows[start : start + _ROWS], decode, found.is_doubtful)


def _fatal(rows: _Rows, cause: str) -> _Looked:
    file, [first, *others] = rows.shard.file, rows.rows
    if others:
        reason = f"decoding samples {first} to {others[-1]} ended a process ({cause})"
        reason += ", but decoding each of them separately did not"
        return _Looked(rows, [Damage(file, reason)])
    index = Index(rows.shard.folder / rows.shard.index, mapped=False)
    reason = f"decoding it ends the process ({cause})"
    return _Looked(rows, [_damage(file, index, first, image_of(index, first), reason)])


def _damage(file: str, index: Index, row: int, ext: str, reason: str) -> Damage:
    start, size = index.span(ext, row) or (0, 0)
    key = index.bytes_of("key", row).decode(errors="replace")
    return Damage(file, reason, key, ext, start, start + size)


def _look(rows: _Rows, advance: Advance) -> _Looked:
    from reader import ReaderError
    from reader.dataset.shard import Shard as ReaderShard
    from reader.dataset.tar_bytes import ReadBuffer, TarBytes
    from reader.fields.sample import WholeSamples
    from reader.format.errors import DecodeError

    looked = _Looked(rows)
    shard = rows.shard
    try:
        index = Index(shard.folder / shard.index, mapped=False)
        with open(open_regular(shard.folder / shard.file), "rb", buffering=0) as tar:
            samples = None
            if rows.decode and shard.entry is not None:
                bytes_of = TarBytes(shard.folder, shard.entry, index, ReadBuffer())
                try:  # as the reader opens it
                    samples = WholeSamples(ReaderShard(index, bytes_of, shard.limits))
                except ReaderError as error:
                    looked.unopened = reason_of(error)
            for row in rows.rows[: max(len(index) - rows.rows.start, 0)]:
                image = image_of(index, row)
                span = index.span(image, row)
                if rows.compare and span is not None and span[1] <= shard.limits.bytes:
                    data = read_span(tar.fileno(), *span)
                    whole = len(data) == span[1]
                    found = contradictions(index.columns, row, data, shard.limits) if whole else ()
                    looked.damages += (_damage(shard.file, index, row, image, why) for why in found)
                is_small = beyond(index.columns, row, shard.limits) is None
                for ext in members_of(index, row) if is_small else ():
                    try:
                        if samples is not None:
                            samples.image(row) if ext == image else samples.member(row, ext)
                    except (DecodeError, ReaderError) as error:
                        reason = f"it does not decode: {reason_of(error)}"
                        looked.damages.append(_damage(shard.file, index, row, ext, reason))
                        if ext == image:
                            break  # what belongs to it cannot be compared with it
                advance(1)
    except (FormatError, OSError) as error:
        looked.unopened = reason_of(error)
    return looked


def contradictions(
    columns: Mapping[str, Column], row: int, data: bytes, limits: Limits
) -> Iterator[str]:
    """Yield how an index, which may be damaged, differs from the decoded image: in isolation."""
    kind = FORMATS[int(columns["format"][row])]
    if kind == "raw":
        return
    try:
        info = probe(data, limits)
    except BadImage as error:
        yield str(error)
        return
    names = ("height", "width", "channels", "orientation")
    claimed = (kind, *(int(columns[name][row]) for name in names))
    if (info.format, *(getattr(info, name) for name in names)) != claimed:
        yield f"it differs from its index: it is {info}"
    elif (table := bands_of(columns, row)) is not None:
        try:
            box = 0, 0, info.height, info.width
            cut = cut_bands(table, len(data), info.height, info.width, box)
            values, _ = cut.values(lambda start, stop: memoryview(data)[start:stop])
            with opened(data, "PNG") as image:
                same = values.tobytes() == image.tobytes()
        except ValueError as error:
            yield f"a band of it does not decode ({error})"
        else:
            if not same:
                yield "its bands hold other pixels than the whole of it"
