"""Tiling by jpegtran: what the program says of a JPEG, and what says nothing of it."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from made_images import encode, make_image

from packer.errors import Untileable
from packer.images import jpegtran

needs_jpegtran = pytest.mark.skipif(
    shutil.which("jpegtran") is None, reason="jpegtran is not installed (libjpeg-turbo-progs)"
)


@needs_jpegtran
@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[: len(data) // 2], "jpegtran"),
        (lambda data: data[:-2] + b"\x00" * 40, "jpegtran"),
    ],
)
def test_what_jpegtran_complains_about_is_not_tiled(
    damage: Callable[[bytes], bytes], reason: str
) -> None:
    data = encode(make_image(4, 100, 100), "JPEG")
    with pytest.raises(Untileable, match=reason):
        jpegtran.transcode(damage(data), 2)


def test_without_jpegtran_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jpegtran, "program", lambda: None)
    data = encode(make_image(5), "JPEG")
    with pytest.raises(Untileable, match="libjpeg-turbo-progs"):
        jpegtran.transcode(data, 2)


def test_a_jpegtran_that_hangs_is_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = tmp_path_factory.mktemp("bin") / "jpegtran"
    program.write_text("#!/bin/sh\nexec sleep 1000\n")
    program.chmod(0o755)
    monkeypatch.setattr(jpegtran, "program", lambda: str(program))
    monkeypatch.setattr(jpegtran, "MAX_SECONDS", 0.2)
    data = encode(make_image(6), "JPEG")
    with pytest.raises(Untileable, match="longer than"):
        jpegtran.transcode(data, 2)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -KILL $$", "killed"),
        ("kill -TERM $$", "killed"),
        ("echo 'Insufficient memory (case 4)' >&2; exit 1", "out of memory"),
    ],
)
def test_a_jpegtran_that_something_ends_says_nothing_of_the_image(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, reason: str
) -> None:
    program = tmp_path / "jpegtran"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(jpegtran, "program", lambda: str(program))
    original = encode(make_image(1), "JPEG")
    with pytest.raises(jpegtran.JpegtranFailed, match=reason):
        jpegtran.transcode(original, 2)


def test_a_full_folder_for_temporary_files_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(jpegtran, "program", lambda: "jpegtran")
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    original = encode(make_image(1), "JPEG")
    with pytest.raises(jpegtran.JpegtranFailed, match=rf"{tempfile.gettempdir()}: No space left"):
        jpegtran.transcode(original, 2)
