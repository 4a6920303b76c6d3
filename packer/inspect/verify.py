"""`packer verify`: proves that a dataset is what was written, or names what is not."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from packer.inspect.pixels import look, rows_of
from packer.inspect.shard import Damage, Findings, Shard, check_shard
from packer.keys import are_among, repeated
from packer.processes import map_unordered
from packer.progress import Advance, Progress
from reader.format import FormatError, Index, Limits, Manifest, manifest


@dataclass(frozen=True)
class VerifyReport:
    """What was checked, and what is not as it was written.

    Attributes:
        samples: that were checked.
        lost: samples that cannot be had: their shard is cut short, or it or its index is missing.
        damages: each finding; a sample may have several, and one may be of a whole file.
    """

    dataset: str
    shards: int
    samples: int
    lost: int
    bytes: int
    seconds: float
    damages: list[Damage]

    @property
    def damaged(self) -> set[tuple[str, str]]:
        """Shard and key of each sample that is damaged, and not lost."""
        found = (damage for damage in self.damages if not damage.lost)
        return {(damage.file, damage.key) for damage in found if damage.key is not None}


def verify(
    dst: Path,
    jobs: int,
    decode: bool = False,
    progress: Progress | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> VerifyReport:
    """Check every byte of the dataset `dst`, its shards in `jobs` processes.

    Memory: 8 bytes a sample, and in each process an index and the largest image.

    Args:
        decode: also decode every image, and what belongs to it.
        limits: an image beyond them is named and not looked at.

    Raises:
        FormatError: `dst` is not a dataset.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    damages: list[Damage] = []
    shards = _shards(dst, damages, limits)
    total = sum(shard.entry.samples for shard in shards if shard.entry)
    with progress.phase("verify", total or None, "samples") as advance:
        processes = max(1, min(jobs, len(shards)))
        checked = map_unordered(_check, shards, processes, advance, lambda shard: shard.file)
        by_file = {found.file: found for found in checked}
    findings = [by_file[shard.file] for shard in shards]
    parts = [part for shard in shards for part in rows_of(shard, by_file[shard.file], decode)]
    total = sum(part.stop - part.start for part in parts)
    if parts:
        doing = "decode" if any(part.decode for part in parts) else "compare"
        with progress.phase(doing, total, "samples") as advance:
            look(parts, jobs, by_file, advance)
    for found in findings:
        damages += found.damages
    damages += _repeated_keys(shards, findings)
    return VerifyReport(
        dataset=str(dst),
        shards=len(shards),
        samples=sum(found.samples for found in findings),
        lost=sum(map(_lost, shards, findings)),
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
        Shard(dst, entry.file, entry, classes, content.external, limits) for entry in content.shards
    ]


def _check(shard: Shard, advance: Advance) -> Findings:
    return check_shard(shard, lambda: advance(1))


def _lost(shard: Shard, found: Findings) -> int:
    """How many samples of a shard there should be, and are not."""
    return max((shard.entry.samples if shard.entry else found.rows) - found.samples, 0)


def _repeated_keys(shards: list[Shard], findings: list[Findings]) -> list[Damage]:
    """The samples whose key another one has had before: hashes first, then the keys themselves."""
    again = repeated([found.key_hashes for found in findings])
    damages: list[Damage] = []
    first: dict[bytes, str] = {}
    for shard, found in zip(shards, findings, strict=True):
        rows = np.flatnonzero(are_among(found.key_hashes, again))
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
