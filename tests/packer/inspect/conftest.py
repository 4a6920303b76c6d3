"""A dataset to be damaged."""

import shutil
from pathlib import Path

import pytest
from made_images import make_folder
from packing import run_pack
from PIL import Image


@pytest.fixture
def with_faulty(tmp_path: Path, faulty_decoder: bytes) -> tuple[Path, Path, str]:
    """A source, its dataset in two shards, and the key of an image that ends the process."""
    source = make_folder(tmp_path / "images", images=4)
    path = sorted(source.rglob("*.jpg"))[5]
    with Image.open(path) as image:
        image.save(path, comment=faulty_decoder)
    run_pack(source, tmp_path / "shards", shard_samples=9, jpeg="verbatim", seed=None)
    return source, tmp_path / "shards", path.relative_to(source).with_suffix("").as_posix()


@pytest.fixture
def copy(tmp_path: Path, packed: Path) -> Path:
    return shutil.copytree(packed, tmp_path / "copy")
