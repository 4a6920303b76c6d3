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


Program = Callable[[str], None]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """`program("exit 1")`: jpegtran is a shell script."""

    def write(script: str) -> None:
        path = tmp_path / "jpegtran"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(jpegtran, "program", lambda: str(path))

    return write


@needs_jpegtran
def test_what_jpegtran_complains_about_is_not_tiled() -> None:
    data = encode(make_image(4, 100, 100), "JPEG")
    for damaged in (data[: len(data) // 2], data[:-2] + b"\x00" * 40):
        with pytest.raises(Untileable, match="jpegtran"):
            jpegtran.transcode(damaged, 2)


def test_without_jpegtran_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jpegtran, "program", lambda: None)
    data = encode(make_image(5), "JPEG")
    with pytest.raises(Untileable, match="libjpeg-turbo-progs"):
        jpegtran.transcode(data, 2)


def test_a_hanging_jpegtran_ends(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    program("exec sleep 1000")
    monkeypatch.setattr(jpegtran, "MAX_SECONDS", 0.2)
    with pytest.raises(Untileable, match="longer than"):
        jpegtran.transcode(encode(make_image(6), "JPEG"), 2)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kill -KILL $$", "killed"),
        ("kill -TERM $$", "killed"),
        ("echo 'Insufficient memory (case 4)' >&2; exit 1", "out of memory"),
    ],
)
def test_a_jpegtran_that_something_ends_says_nothing_of_the_image(
    program: Program, script: str, reason: str
) -> None:
    program(script)
    with pytest.raises(jpegtran.JpegtranFailed, match=reason):
        jpegtran.transcode(encode(make_image(1), "JPEG"), 2)


def test_a_full_folder_for_temporary_files_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(jpegtran, "program", lambda: "jpegtran")
    monkeypatch.setattr("tempfile.TemporaryFile", full)
    original = encode(make_image(1), "JPEG")
    with pytest.raises(jpegtran.JpegtranFailed, match=rf"{tempfile.gettempdir()}: No space left"):
        jpegtran.transcode(original, 2)
