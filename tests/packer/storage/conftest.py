"""Sources in a bucket, and packing them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from packing import files_of
from s3_server import S3Server

import packer
from packer import PackReport


@pytest.fixture
def raw(store: S3Server, source: Path) -> Path:
    """The folder of `source`, as it lies in the bucket."""
    return shutil.copytree(source, store.folder / "raw")


@pytest.fixture
def fetch(store: S3Server, tmp_path: Path) -> Callable[..., PackReport]:
    """`fetch("s3://bucket/raw")`: pack what is there into the folder "shards", by one process."""

    def run(url: str = "s3://bucket/raw", dst: Any = None, **options: Any) -> PackReport:
        given = {"shard_samples": 10, "jobs": 1, "progress": False, "scratch": tmp_path / "scratch"}
        given |= {"storage_options": store.options if url.startswith("s3") else None}
        return packer.pack(url, dst or tmp_path / "shards", **given | options)

    return run


@pytest.fixture
def is_packed(tmp_path: Path, packed: Path) -> Any:
    """`is_packed()`: whether "shards" holds what `source` is packed to, whatever the source is."""

    def compare(folder: Path = tmp_path / "shards") -> bool:
        expected, found = files_of(packed), files_of(folder)
        named = "dataset.json"
        return expected.pop(named) != found.pop(named) and expected == found

    return compare
