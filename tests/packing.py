"""A run as tests begin one, with its options as keywords, and views of what it wrote."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from packer.options.declared import PackOptions, RunOptions
from packer.options.part import Part
from packer.progress import QUIET
from packer.run.destination import Destination
from packer.run.pack import run
from packer.run.report import PackReport, PartReport
from packer.run.scopes import scope_of
from packer.storage.source import LocalSource
from reader.format import FORMATS, Index, Manifest


class Packed(NamedTuple):
    """One sample as it lies in the shards."""

    name: str
    key: str
    label: int
    kind: str
    orientation: int
    size: tuple[int, int]
    data: bytes
    label_data: bytes | None


def pack(src: Any, dst: Path, options: PackOptions, jobs: int = 1, **given: Any) -> PackReport:
    """Pack `src` into the folder `dst`; what is no option of a run goes to `run` itself."""
    report = _run(src, dst, options, jobs, given)
    assert isinstance(report, PackReport)
    return report


def run_pack(
    src: Path, dst: Path, jobs: int = 1, skip_rejected: bool = False, **options: Any
) -> PackReport:
    """Pack with these options of a dataset."""
    return pack(src, dst, PackOptions(**options), jobs, skip_rejected=skip_rejected)


def pack_part(src: Any, dst: Path, options: PackOptions, part: str, **given: Any) -> PartReport:
    """Pack a part of `src`."""
    report = _run(src, dst, options, 1, {**given, "part": Part.of(part, {})})
    assert isinstance(report, PartReport)
    return report


def _run(
    src: Any, dst: Path, options: PackOptions, jobs: int, given: dict[str, Any]
) -> PackReport | PartReport:
    show = given.pop("progress", QUIET)
    if given.pop("skip_rejected", False):
        given["on_error"] = "skip"
    scope = scope_of(Destination(dst), options, RunOptions(jobs=jobs, **given))
    return run(LocalSource.at(Path(src)), scope, show)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of every file in it, hidden ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def samples_of(dst: Path) -> list[Packed]:
    """Return every sample in the order of the shards, by the indexes' offsets."""
    found = []
    for shard in Manifest.load(dst).shards:
        opened, content = Index(dst / shard.index), (dst / shard.file).read_bytes()
        columns = opened.columns
        for row in range(len(opened)):
            kind = FORMATS[columns["format"][row]]
            image, label = opened.span(kind, row), opened.span("cls", row)
            assert image is not None
            found.append(
                Packed(
                    os.fsdecode(opened.bytes_of("name", row)),
                    opened.key(row),
                    int(columns["label"][row]),
                    kind,
                    int(columns["orientation"][row]),
                    (int(columns["height"][row]), int(columns["width"][row])),
                    content[image[0] : sum(image)],
                    content[label[0] : sum(label)] if label else None,
                )
            )
    return found
