"""`packer verify`: proves that a data set is what was written, or names what is not."""

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from packer.checking.shard import (
    Damage,
    Findings,
    Shard,
    check_shard,
)
from packer.processes import (
    Advance,
    map_unordered,
)
from packer.progress import Progress
from packer.repeats import repeated
from reader.format import (
    FORMATS,
    FormatError,
    Index,
    Limits,
    Manifest,
    ShardEntry,
    manifest,
)


@dataclass(frozen=True)
class VerifyReport:
    """What was checked, and what is not as it was written.

    Attributes:
        damages: each finding; a sample may have several, and one may be of a whole file.
    """

    dataset: str
    shards: int
    samples: int
    bytes: int
    seconds: float
    damages: list[Damage]

    @property
    def damaged(self) -> set[tuple[str, str]]:
        """Shard and key of each sample that is damaged."""
        return {(found.file, found.key) for found in self.damages if found.key is not None}


def verify(
    dst: Path,
    jobs: int,
    decode: bool = False,
    progress: Progress | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> VerifyReport:
    """Check every byte of the data set `dst`, its shards in `jobs` processes.

    Memory: 8 bytes a sample, and in each process an index and the largest image.

    Args:
        decode: also decode every image, and what belongs to it.
        limits: an image beyond them is named and not looked at.

    Raises:
        FormatError: `dst` is no data set.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    damages: list[Damage] = []
    shards = _shards(dst, damages, limits)
    total = sum(shard.entry.samples for shard in shards if shard.entry)
    findings: list[Findings] = []
    with progress.phase("verify", total or None, "samples") as advance:
        check = partial(_check, decode=decode)
        processes = max(1, min(jobs, len(shards)))
        findings += map_unordered(check, shards, processes, advance, lambda shard: shard.file)
    place = {shard.file: number for number, shard in enumerate(shards)}
    findings.sort(key=lambda found: place[found.file])
    for found in findings:
        damages += found.damages
    damages += _repeated_keys(shards, findings)
    return VerifyReport(
        dataset=str(dst),
        shards=len(shards),
        samples=sum(found.samples for found in findings),
        bytes=sum(found.bytes for found in findings),
        seconds=time.monotonic() - began,
        damages=damages,
    )


def _shards(dst: Path, damages: list[Damage], limits: Limits) -> list[Shard]:
    """By dataset.json or, where that is damaged, those that are there."""
    try:
        content = Manifest.load(dst)
    except FormatError as error:
        if not (dst / manifest.FILENAME).is_file():
            raise
        damages.append(Damage(manifest.FILENAME, str(error).removesuffix(".")))
        files = sorted(path.relative_to(dst) for path in dst.rglob("*.tar"))
        return [Shard(dst, file.as_posix(), None, None, False, limits) for file in files]
    if (dst / manifest.FILENAME).read_bytes() != content.dump().encode():
        damages.append(Damage(manifest.FILENAME, "it says the same in other bytes"))
    classes = len(content.classes)
    return [
        Shard(dst, entry.file, entry, classes, content.foreign, limits) for entry in content.shards
    ]


def _check(shard: Shard, advance: Advance, decode: bool) -> Findings:
    found = check_shard(shard, lambda: advance(1))
    if decode and shard.entry is not None:
        _decode(shard.folder, shard.entry, shard.limits, found)
    return found


def _decode(folder: Path, entry: ShardEntry, limits: Limits, found: Findings) -> None:
    """Decode every image and every member as the reader does."""
    from reader import ReaderError
    from reader.dataset.shard import ReadBuffer
    from reader.dataset.shard import Shard as OpenShard
    from reader.errors import DecodeError
    from reader.samples.whole import WholeSamples

    try:
        index = Index(folder / entry.index, mapped=False)
        shard = OpenShard(folder, entry, index, ReadBuffer(), limits=limits)
    except (FormatError, ReaderError) as error:
        if not found.damages:  # it was sound a moment ago
            found.damages.append(Damage(entry.file, str(error).removesuffix(".")))
        return
    samples = WholeSamples(shard)
    for row in range(len(index)):
        for ext in (None, *index.members):
            span = index.span(ext or FORMATS[int(index.columns["format"][row])], row)
            try:
                if ext is None:
                    samples.image(row)
                elif span is not None:
                    samples.member(row, ext)
            except (DecodeError, ReaderError) as error:
                assert span is not None
                reason = f"it does not decode: {str(error).removesuffix('.')}"
                place = (ext, span[0], sum(span))
                found.damages.append(Damage(entry.file, reason, index.key(row), *place))
                if ext is None:
                    break  # what belongs to it cannot be compared with it


def _repeated_keys(shards: list[Shard], findings: list[Findings]) -> list[Damage]:
    """The samples whose key another one has had before: hashes first, then the keys themselves."""
    again = repeated([found.key_hashes for found in findings])
    damages: list[Damage] = []
    first: dict[bytes, str] = {}
    for shard, found in zip(shards, findings, strict=True):
        rows = np.flatnonzero(np.isin(found.key_hashes, again))
        if not len(rows):
            continue
        try:
            index = Index(shard.folder / shard.index, mapped=False)
        except FormatError as error:  # it was sound a while ago
            damages.append(Damage(shard.index, str(error).removesuffix(".")))
            continue
        for row in rows.tolist():
            key = index.bytes_of("key", row)
            if key in first:
                damages.append(
                    Damage(
                        shard.file,
                        f"a sample of {first[key]} has the same key",
                        key.decode("utf-8", "replace"),
                    )
                )
            first.setdefault(key, shard.file)
    return damages
