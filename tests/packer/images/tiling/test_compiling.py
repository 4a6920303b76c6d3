"""Where compiled code is kept, and that processes wait for the one that compiles."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

from packer.images.tiling import compiling

_TWO = """
import sys, time
from packer.images.tiling.compiling import complete, is_complete, kept
print("ready", flush=True)
sys.stdin.readline()
with kept():
    print("begins", is_complete(), time.monotonic_ns())
    time.sleep(0.2)
    complete()
    print("ends", is_complete(), time.monotonic_ns())
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A user's folder for caches, and the one for temporary files."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for function in (compiling.folders, compiling._usable):
        function.cache_clear()
    yield home, temporary
    for function in (compiling.folders, compiling._usable):
        function.cache_clear()


def test_compiled_code_is_kept_in_the_users_folder(places: tuple[Path, Path]) -> None:
    before = numba.config.CACHE_DIR
    assert not compiling.is_complete()
    with compiling.kept():
        folder = Path(numba.config.CACHE_DIR)
        assert folder.is_relative_to(places[0])
    assert not compiling.is_complete()
    compiling.complete()
    assert compiling.is_complete()
    assert before == numba.config.CACHE_DIR


def test_without_a_writable_home_it_is_a_temporary_folder(places: tuple[Path, Path]) -> None:
    places[0].write_text("in the way")
    with compiling.kept():
        assert Path(numba.config.CACHE_DIR).is_relative_to(places[1])
    compiling.complete()
    assert compiling.is_complete()


def test_what_others_may_write_is_never_loaded(places: tuple[Path, Path]) -> None:
    for folder in compiling.folders():
        folder.mkdir(parents=True)
        folder.parent.chmod(0o777)
    with compiling.kept() as is_kept:
        assert not is_kept


def test_processes_that_begin_together_compile_one_after_the_other(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", _TWO]
    both = [subprocess.Popen(command, env=environment, **pipes) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == "ready\n"
    said = [process.communicate("go\n")[0].split() for process in both]
    first, second = sorted(said, key=lambda words: int(words[2]))
    assert [first[1], second[1]] == ["False", "True"]
    assert int(first[5]) <= int(second[2])


def test_it_is_seen_that_another_process_compiles(places: tuple[Path, Path]) -> None:
    assert not compiling.is_under_way()
    with compiling.kept():
        assert compiling.is_under_way()
    assert not compiling.is_under_way()


def test_what_only_progressive_jpegs_need_is_compiled_for_the_first_of_them() -> None:
    load = "import sys; from packer.images import tiling; tiling.load()"
    command = [sys.executable, "-c", f"{load}; print([*sys.modules])"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "packer.images.tiling.transcode" in loaded
    assert "packer.images.tiling.progressive" not in loaded
