"""Appending a source whose files were renamed: their images would be stored twice."""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from called_packer import call_packer
from made_images import encode, make_image

from reader.format import Manifest

Change = Callable[[Path], object]


def _source(folder: Path, kind: str) -> Path:
    for seed in range(6):
        file = folder / f"{'ant' if seed < 3 else 'bee'}/p{seed}.{kind.lower()}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(make_image(seed), kind))
    return folder


def _renamed(source: Path) -> None:
    (source / "bee").rename(source / "wasp")


def _each_renamed(source: Path) -> None:
    for file in (source / "bee").iterdir():
        file.rename(file.with_name(f"new-{file.name}"))


def _one_moved(source: Path) -> None:
    file = next((source / "bee").iterdir())
    file.rename(source / "ant" / file.name)


def _copied(source: Path) -> None:
    file = next((source / "bee").iterdir())
    shutil.copy(file, file.with_name(f"copy{file.suffix}"))


def _replaced(source: Path) -> None:
    file = next((source / "bee").iterdir())
    file.with_name(f"other{file.suffix}").write_bytes(encode(make_image(99), "PNG"))
    file.unlink()


@pytest.mark.parametrize(
    ("change", "kind", "options"),
    [
        (_renamed, "PNG", ()),
        (_renamed, "JPEG", ()),
        (_renamed, "JPEG", ("--max-side", 32)),
        (_renamed, "PNG", ("--raw", "24x24")),
        (_each_renamed, "JPEG", ()),
        (_one_moved, "PNG", ()),
    ],
)
def test_images_under_new_names_are_refused(
    change: Change, kind: str, options: tuple[object, ...], tmp_path: Path
) -> None:
    source, dst = _source(tmp_path / "source", kind), tmp_path / "dst"
    call_packer("pack", source, dst, "-j", 1, *options, code=0)
    before = Manifest.load(dst)
    change(source)
    done = call_packer("pack", source, dst, "-j", 1, "--append", *options, code=2)
    assert "bee/p" in done.stderr
    assert "--overwrite" in done.stderr
    assert Manifest.load(dst) == before
    call_packer("pack", source, dst, "-j", 1, "--overwrite", *options, code=0)


@pytest.mark.parametrize("change", [_copied, _replaced])
def test_copies_and_other_images_are_added(change: Change, tmp_path: Path) -> None:
    source, dst = _source(tmp_path / "source", "PNG"), tmp_path / "dst"
    call_packer("pack", source, dst, "-j", 1, code=0)
    change(source)
    call_packer("pack", source, dst, "-j", 1, "--append", code=0)
    assert sum(shard.samples for shard in Manifest.load(dst).shards) == 7


@pytest.mark.parametrize(
    ("order", "options", "code"),
    [
        ((9, 0, 1, 2, 3), (), 2),
        ((0, 1, 9, 2, 3), ("--max-side", 32), 2),
        ((1, 2, 3, 8, 9), (), 2),
        ((0, 1, 2, 3, 9), (), 0),
        ((0, 1, 2, 3, 9), ("--max-side", 32), 0),
    ],
)
def test_rows_whose_numbers_are_those_of_other_images_are_refused(
    order: Sequence[int], options: Sequence[object], code: int, tmp_path: Path
) -> None:
    source, dst = tmp_path / "source", tmp_path / "dst"
    _numbered(source, range(4))
    call_packer("pack", source, dst, "-j", 1, *options, code=0)
    _numbered(source, order)
    os.utime(source / "train.npz", (2**31, 2**31))
    done = call_packer("pack", source, dst, "-j", 1, "--append", *options, code=code)
    assert ("another image in the source" in done.stderr) == (code == 2)
    assert sum(shard.samples for shard in Manifest.load(dst).shards) == (4 if code else 5)


def _numbered(source: Path, order: Sequence[int]) -> None:
    """Write images whose keys are their numbers in an array."""
    source.mkdir(exist_ok=True)
    pictures = [np.asarray(make_image(seed)) for seed in order]
    np.savez(source / "train.npz", images=np.stack(pictures), labels=np.zeros(len(order), int))


def test_another_source_may_have_a_few_of_the_same_images(tmp_path: Path) -> None:
    source, dst = _source(tmp_path / "source", "PNG"), tmp_path / "dst"
    call_packer("pack", source, dst, "-j", 1, code=0)
    other = tmp_path / "other"
    for at in range(4):
        (other / "ant").mkdir(parents=True, exist_ok=True)
        (other / f"ant/other{at}.png").write_bytes(encode(make_image(50 + at), "PNG"))
    (other / "bee").mkdir()
    shutil.copy(source / "bee/p3.png", other / "bee/same.png")
    call_packer("pack", other, dst, "-j", 1, "--append", code=0)
