"""Commands on finished datasets, as tests call them: with a folder."""

from pathlib import Path
from typing import Any

from packer.inspect import export as exporting
from packer.inspect import extract as extracting
from packer.inspect import info as informing
from packer.inspect import repair as repairing
from packer.inspect import verify as verifying
from packer.inspect.extract import ExtractReport
from packer.inspect.info import Info
from packer.inspect.repair import RepairReport
from packer.inspect.verify import VerifyReport
from packer.storage.dataset import Finished
from packer.storage.source import LocalSource


def verify(dst: Path, *arguments: Any, **more: Any) -> VerifyReport:
    """Check every byte of a dataset."""
    return verifying.verify(Finished(dst, dst), *arguments, **more)


def repair(dst: Path, src: Path, jobs: int = 1) -> RepairReport:
    """Rewrite what is damaged."""
    return repairing.repair(dst, LocalSource.at(src), jobs)


def info(dst: Path) -> Info:
    """Sum up the indexes."""
    return informing.info(Finished(dst, dst))


def extract(dst: Path, *arguments: Any, **more: Any) -> ExtractReport:
    """Write the files under their original names."""
    return extracting.extract(Finished(dst, dst), *arguments, **more)


def export(dst: Path, *arguments: Any) -> list[str]:
    """Write what another tool needs; return the names of the files."""
    return exporting.export(Finished(dst, dst), *arguments)[0]
