"""What the tests of packer share: the command line as a process, and views of a packed folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from PIL import Image

import packer
from reader.format import FORMATS, Index, Manifest

ROOT = Path(packer.__file__).parent.parent


class Packed(NamedTuple):
    """One sample as it lies in the shards."""

    name: str
    key: str
    label: int
    kind: str
    orientation: int
    size: tuple[int, int]
    data: bytes
    label_data: bytes | None


@pytest.fixture(scope="session")
def start_packer() -> Callable[..., "subprocess.Popen[str]"]:
    """`start_packer("pack", src, dst)`: the command line in a session of its own."""

    def start(*args: object, ulimit: str = "unlimited") -> "subprocess.Popen[str]":
        # The output is strict UTF-8, as on most users' machines, and not as forgiving as under C.
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        limited = ["bash", "-c", 'ulimit -f "$0" && exec "$@"', ulimit]
        return subprocess.Popen(
            [*limited, sys.executable, "-m", "packer", *map(str, args)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    return start


@pytest.fixture(scope="session")
def run_packer(
    start_packer: Callable[..., "subprocess.Popen[str]"],
) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """`run_packer("pack", src, dst)`: run the command line to its end."""

    def run(*args: object, **options: Any) -> "subprocess.CompletedProcess[str]":
        with start_packer(*args, **options) as process:
            stdout, stderr = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    return run


@pytest.fixture(scope="session")
def files_of() -> Callable[[Path], dict[str, bytes]]:
    """`files_of(folder)`: the contents of every file in it, hidden ones too."""

    def files(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    return files


@pytest.fixture(scope="session")
def samples_of() -> Callable[[Path], list[Packed]]:
    """`samples_of(dst)`: every sample in the order of the shards, by the indexes' offsets."""

    def samples(dst: Path) -> list[Packed]:
        found = []
        for shard in Manifest.load(dst).shards:
            index, tar = Index(dst / shard.index), (dst / shard.file).read_bytes()
            columns = index.columns
            for row in range(len(index)):
                kind = FORMATS[columns["format"][row]]
                image, label = index.span(kind, row), index.span("cls", row)
                assert image is not None
                found.append(
                    Packed(
                        os.fsdecode(index.bytes_of("name", row)),
                        index.key(row),
                        int(columns["label"][row]),
                        kind,
                        int(columns["orientation"][row]),
                        (int(columns["height"][row]), int(columns["width"][row])),
                        tar[image[0] : sum(image)],
                        tar[label[0] : sum(label)] if label else None,
                    )
                )
        return found

    return samples


@pytest.fixture
def own_source(tmp_path: Path, source: Path) -> Path:
    """A copy of `source` that may be changed, with the same times of writing."""
    return shutil.copytree(source, tmp_path / "own_source")


@pytest.fixture(scope="session")
def many(
    tmp_path_factory: pytest.TempPathFactory,
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> Path:
    """A folder of 2 classes with 80 small JPEGs each: enough work to be interrupted at."""
    root = tmp_path_factory.mktemp("many") / "images"
    images = [encode(make_image(seed, 16, 16), "JPEG") for seed in range(8)]
    for name in ("cat", "dog"):
        (root / name).mkdir(parents=True)
        for number in range(80):
            (root / name / f"{number:03d}.jpg").write_bytes(images[number % 8])
    return root
