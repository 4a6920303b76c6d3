"""A bucket to pack into."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from s3_server import S3Server, bucket

import packer
from packer import PackReport

URL = "s3://bucket/shards"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[S3Server]:
    """An empty bucket of this test's."""
    pytest.importorskip("obstore", reason="writing into a store needs shardfeed[remote]")
    with bucket(tmp_path / "bucket") as server:
        yield server


@pytest.fixture
def upload(store: S3Server, tmp_path: Path, source: Path) -> Callable[..., PackReport]:
    """`upload(shard_samples=5)`: pack `source` into the bucket, by one process."""

    def run(src: Any = source, dst: str = URL, **options: Any) -> PackReport:
        given = {"shard_samples": 10, "jobs": 1, "progress": False, "scratch": tmp_path / "scratch"}
        return packer.pack(src, dst, **given | {"storage_options": store.options} | options)

    return run
