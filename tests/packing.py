"""A run as tests begin one, with its options as keywords."""

from pathlib import Path
from typing import Any

from packer.options.declared import PackOptions, RunOptions
from packer.options.part import Part
from packer.progress import QUIET
from packer.run.destination import Destination
from packer.run.pack import run
from packer.run.report import PackReport, PartReport
from packer.run.scopes import scope_of
from packer.storage.source import LocalSource


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
