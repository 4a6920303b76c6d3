"""A bucket to pack into."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from s3_server import S3Server

import packer
from packer import PackReport

URL = "s3://bucket/shards"


@pytest.fixture
def upload(store: S3Server, tmp_path: Path, source: Path) -> Callable[..., PackReport]:
    """`upload(shard_samples=5)`: pack `source` into the bucket, by one process."""

    def run(src: Any = source, dst: str = URL, **options: Any) -> PackReport:
        given = {"shard_samples": 10, "jobs": 1, "progress": False, "scratch": tmp_path / "scratch"}
        return packer.pack(src, dst, **given | {"storage_options": store.options} | options)

    return run
