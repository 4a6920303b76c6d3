"""Sources of images that the tests make for themselves."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from packer.options import SourceOptions
from packer.sources import LeftOut, Source, SourceSample
from packer.sources.opening import open_source


@pytest.fixture(scope="session")
def jpegs(make_image: Callable[..., Image.Image], encode: Callable[..., bytes]) -> list[bytes]:
    """Eight small JPEGs."""
    return [encode(make_image(seed, 16, 16), "JPEG") for seed in range(8)]


@pytest.fixture
def images(tmp_path: Path, jpegs: list[bytes]) -> Path:
    """A folder `images` with the files 0.jpg to 7.jpg."""
    folder = tmp_path / "images"
    folder.mkdir()
    for number, data in enumerate(jpegs):
        (folder / f"{number}.jpg").write_bytes(data)
    return folder


@pytest.fixture(scope="session")
def opened() -> Callable[..., Source]:
    """`opened(path, classes=None, root="images")`: the source at `path`."""

    def open_path(path: Path, classes: list[str] | None = None, **options: Any) -> Source:
        return open_source(path, SourceOptions(**options), classes)

    return open_path


@pytest.fixture(scope="session")
def scanned() -> Callable[[Source], tuple[dict[str, SourceSample], dict[str, str]]]:
    """`scanned(source)`: its samples by name, and what it leaves out with the reasons."""

    def scan(source: Source) -> tuple[dict[str, SourceSample], dict[str, str]]:
        records = list(source.scan())
        samples = {item.name: item for item in records if isinstance(item, SourceSample)}
        left_out = {item.name: item.reason for item in records if isinstance(item, LeftOut)}
        assert len(samples) + len(left_out) == len(records), "something was named twice"
        return samples, left_out

    return scan


@pytest.fixture(scope="session")
def json_of() -> Callable[[Source, SourceSample], Any]:
    """`json_of(source, sample)`: its JSON; its size is checked against what the scan said."""

    def read(source: Source, sample: SourceSample) -> Any:
        content = source.read(sample)
        assert tuple(content.members) == sample.members
        assert len(content.image) + sum(map(len, content.members.values())) == sample.size
        return json.loads(content.members["json"]) if sample.members else None

    return read
