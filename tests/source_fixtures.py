"""Sources and archives that the tests make for themselves."""

import io
import json
import pickle
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_images
import numpy as np
import pytest
from PIL import Image

from packer.options.declared import SourceOptions
from packer.samples.records import Sample, Skipped, Source
from packer.samples.table import SampleTable
from packer.sources.audit.ask import ask
from packer.sources.audit.outcome import Outcome
from packer.sources.evidence.evidence import refuse_evidence
from packer.sources.interpretation import Interpretation
from packer.sources.readings.detect import read


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
        return read(path, SourceOptions(**options)).open(classes)

    return open_path


@pytest.fixture(scope="session")
def scanned() -> Callable[[Source], tuple[dict[str, Sample], dict[str, str]]]:
    """`scanned(source)`: its samples by name, and what it leaves out with the reasons."""

    def scan(source: Source) -> tuple[dict[str, Sample], dict[str, str]]:
        records = list(source.scan())
        samples = {item.name: item for item in records if isinstance(item, Sample)}
        skipped = {item.name: item.reason for item in records if isinstance(item, Skipped)}
        assert len(samples) + len(skipped) == len(records), "something was named twice"
        return samples, skipped

    return scan


@pytest.fixture(scope="session")
def json_of() -> Callable[[Source, Sample], Any]:
    """`json_of(source, sample)`: its JSON; its size is checked against what the scan said."""

    def read(source: Source, sample: Sample) -> Any:
        content = source.files.read(sample)
        assert tuple(content.members) == sample.members
        assert len(content.image) + sum(map(len, content.members.values())) == sample.size
        return json.loads(content.members["json"]) if sample.members else None

    return read


@pytest.fixture(scope="session")
def make_jpegs(
    make_image: Callable[..., Image.Image], encode: Callable[..., bytes]
) -> Callable[..., dict[str, bytes]]:
    """`make_jpegs("cat/a.jpg", "dog/b.jpg")`: a small JPEG for each name, no two alike."""

    def make(*names: str) -> dict[str, bytes]:
        return {name: encode(make_image(seed, 16, 24), "JPEG") for seed, name in enumerate(names)}

    return make


@pytest.fixture(scope="session")
def write_tar() -> Callable[..., Path]:
    """`write_tar(path, {"cat/a.jpg": b"..."})`: a tar by the standard library; gives the path."""

    def write(
        path: Path, files: Mapping[str, bytes], mode: str = "w", kind: int = tarfile.GNU_FORMAT
    ) -> Path:
        with tarfile.open(path, mode, format=kind) as archive:
            for name, data in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
        return path

    return write


@pytest.fixture(scope="session")
def write_files() -> Callable[..., Path]:
    """`write_files(root, {"cat/a.jpg": b"..."})`: the same as a folder."""

    return made_images.write_files


def _listed(records: Iterable[Sample | Skipped]) -> SampleTable:
    listing = SampleTable()
    for record in records:
        listing.add(replace(record, places=()) if isinstance(record, Sample) else record)
    return listing


class Scan:
    """What a source yields."""

    def __init__(
        self,
        reading: Interpretation,
        classes: list[str] | None = None,
        src: Path | None = None,
        options: SourceOptions | None = None,
    ) -> None:
        source = reading.open(classes)
        found = [*reading.leftovers, *source.scan()]
        if src is not None:
            listing = _listed(found)
            given = options or SourceOptions()
            _, adopted = refuse_evidence(source, listing, src, given, reading.what)
            if adopted is not None:
                reading = read(src, adopted)
                source = reading.open(classes)
                found = [*reading.leftovers, *source.scan()]
                listing = _listed(found)
            seen = (source, source.files, listing, source.classes, adopted or given)
            ask(Outcome(src, reading.kind, *seen), given)
        self.reading = reading
        self.root = source.facts.root or src
        self.source = source
        self.samples = [record for record in found if isinstance(record, Sample)]
        skipped = [record for record in found if isinstance(record, Skipped)]
        self.skipped = {record.name: record.reason for record in skipped if not record.ignored}
        self.reasons = {record.name: record.reason for record in skipped}
        self.ignored = {record.name for record in skipped if record.ignored}

    @property
    def labels(self) -> dict[str, int]:
        """Key -> label."""
        return {sample.key: sample.label for sample in self.samples}

    @property
    def contents(self) -> dict[str, bytes]:
        """Name of each image and, with their extensions, of its members -> bytes."""
        found = {}
        files = pickle.loads(pickle.dumps(self.source.files))  # as they go to a process
        for sample in self.samples:
            content = files.read(sample)
            image = content.image
            found[sample.name] = image if isinstance(image, bytes) else image.tobytes()
            stem = sample.name.rpartition(".")[0] or sample.name
            found |= {f"{stem}.{ext}": data for ext, data in content.members.items()}
        return found


@pytest.fixture(scope="session")
def scan() -> Callable[..., Scan]:
    """`scan(path)`: open what is there as `packer pack` does, and list it."""

    def run(path: Path, classes: list[str] | None = None, options: SourceOptions | None = None):
        return Scan(read(path, options or SourceOptions()), classes, path, options)

    return run


@pytest.fixture(scope="session")
def cifar_rows() -> Callable[..., tuple[np.ndarray, list[int]]]:
    """`cifar_rows(seed, rows, classes)`: pixels (rows, 3072), labels."""

    def make(seed: int, rows: int, classes: int) -> tuple[np.ndarray, list[int]]:
        rng = np.random.default_rng(seed)
        pixels = rng.integers(0, 256, (rows, 3072), dtype=np.uint8)
        return pixels, [(seed + row) % classes for row in range(rows)]

    return make
