"""Data sets made of given files, scripts in processes of their own, and a look for leftovers."""

import gc
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

import reader
from packer.pack import PackReport


@pytest.fixture(scope="session")
def make_dataset(
    tmp_path_factory: pytest.TempPathFactory, run_pack: Callable[..., PackReport]
) -> Callable[..., Path]:
    """`make_dataset({"name.png": b"..."}, shard_samples=4)`: these files, packed by name."""

    def make(files: Mapping[str, bytes], **options: object) -> Path:
        root = tmp_path_factory.mktemp("made")
        for name, data in files.items():
            path = root / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        run_pack(root / "files", root / "shards", seed=None, **options)
        return root / "shards"

    return make


@pytest.fixture
def packed_copy(packed: Path, tmp_path: Path) -> Path:
    """A copy of `packed`, to be damaged."""
    return Path(shutil.copytree(packed, tmp_path / "copy"))


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """`run_script(code, *arguments, cwd=...)`: what became of a script that people might write."""

    def run(code: str, *arguments: object, **options: object) -> "subprocess.CompletedProcess[str]":
        script = tmp_path / "scripts" / "script.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(textwrap.dedent(code))
        return subprocess.run(
            [sys.executable, script, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(Path(reader.__file__).parent.parent)},
            capture_output=True,
            text=True,
            timeout=60,
            **options,
        )

    return run


@pytest.fixture
def no_leftovers() -> Iterator[None]:
    """Fails a test that leaves processes or descriptors behind."""
    gc.collect(0)
    gc.freeze()  # what is there already need not be looked through for garbage
    before = _held()
    yield
    gc.collect()
    gc.unfreeze()
    assert _held() == before


def _held() -> tuple[set[int], int]:
    this = psutil.Process()
    return {child.pid for child in this.children(recursive=True)}, this.num_fds()
