"""The import rules: packer -> reader.format alone, reader without packer, torch in few modules."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# The prefetcher's half on the device is lane.py; encoded.py, nvjpeg.py, resample.py decode there.
TORCH = (
    "batch.py",
    "cuda.py",
    "encoded.py",
    "lane.py",
    "loader.py",
    "nvjpeg.py",
    "resample.py",
)


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("path", modules("reader"), ids=str)
def test_reader_never_imports_packer(path: Path) -> None:
    assert not [name for name in imported(path) if name.split(".")[0] == "packer"]


@pytest.mark.parametrize("path", modules("packer"), ids=str)
def test_packer_imports_of_the_reader_only_its_format(path: Path) -> None:
    used = {name for name in imported(path) if name.split(".")[0] == "reader"}
    allowed = ("reader.format",) if path.name != "verify.py" else ("reader",)
    assert all(name.startswith(allowed) for name in used)


@pytest.mark.parametrize("path", modules("reader"), ids=str)
def test_torch_is_imported_by_loader_and_prefetcher_alone(path: Path) -> None:
    uses_torch = any(name.split(".")[0] == "torch" for name in imported(path))
    assert not uses_torch or path.name in TORCH


def test_import_reader_does_not_import_torch() -> None:
    assert run("import sys, reader; print('torch' in sys.modules)") == "False"


def test_the_command_line_starts_without_numpy() -> None:
    assert run("import sys, packer.cli.main; print('numpy' in sys.modules)") == "False"


def test_every_public_name_of_the_reader_exists() -> None:
    assert run("import reader; print(all(hasattr(reader, n) for n in reader.__all__))") == "True"
