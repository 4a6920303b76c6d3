"""A folder with symbolic links that lead nowhere, to themselves, or on very many ways."""

from itertools import pairwise
from pathlib import Path

import pytest
from called_packer import call_packer
from made_images import encode, make_image


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    for seed, name in enumerate(("cat/a", "cat/b", "dog/c", "dog/d")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.png").write_bytes(encode(make_image(seed, 16, 16), "PNG"))
    return folder


@pytest.mark.parametrize("name", ["labels.csv", "data.yaml", "x.json", "cat/x.png", "cat/more"])
def test_a_link_to_itself_is_named(name: str, source: Path, tmp_path: Path) -> None:
    link = source / name
    link.symlink_to(link.name)
    done = call_packer("pack", source, tmp_path / "dst", "-j", 1, code=2)
    assert name in done.stderr


def test_a_link_to_itself_that_is_no_image_is_left_out(source: Path, tmp_path: Path) -> None:
    (source / "more").symlink_to("more")
    done = call_packer("pack", source, tmp_path / "dst", "-j", 1)
    assert "more" in done.stdout + done.stderr


def test_links_that_multiply_the_paths_of_a_folder_are_refused(tmp_path: Path) -> None:
    folders = [tmp_path / "source" / str(level) for level in range(25)]
    for folder in folders:
        folder.mkdir(parents=True)
    for folder, below in pairwise(folders):
        (folder / "a").symlink_to(below)
        (folder / "b").symlink_to(below)
    (folders[-1] / "x.png").write_bytes(encode(make_image(1, 16, 16), "PNG"))
    done = call_packer("pack", folders[0], tmp_path / "dst", "-j", 1, code=2)
    assert f"lead to {folders[-1].resolve()}" in done.stderr
