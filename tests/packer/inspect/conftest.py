"""A dataset to be damaged."""

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def copy(tmp_path: Path, packed: Path) -> Path:
    return shutil.copytree(packed, tmp_path / "copy")
