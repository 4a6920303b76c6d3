"""Datasets made of given files, and scripts in processes of their own."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write
from made_images import encode, make_image, png
from packing import run_pack
from store_server import StoreServer, serving

import reader
from packer.images.probe import ImageInfo, probe
from packer.shards.shard_writer import entry_of, index_of
from reader import Dataset
from reader.format import FORMATS, Index, Manifest, ShardEntry, index, safetensors, tar
from reader.format.columns import ImageRow, MemberRow, Rows


@pytest.fixture(scope="session")
def make_dataset(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """`make_dataset({"name.png": b"..."}, shard_samples=4)`: these files, packed by name."""

    def make(files: Mapping[str, bytes], **options: object) -> Path:
        root = tmp_path_factory.mktemp("made")
        for name, data in files.items():
            path = root / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        run_pack(root / "files", root / "shards", seed=None, **options)
        return root / "shards"

    return make


@pytest.fixture(scope="session")
def others(make_dataset: Callable[..., Path]) -> Path:
    """Seven samples of the classes class2 and dog, in three shards; not to be changed."""
    names = [f"{name}/{n}.jpg" for name in ("class2", "dog") for n in range(4)][:7]
    files = {name: encode(make_image(70 + at, 70), "JPEG") for at, name in enumerate(names)}
    return make_dataset(files, shard_samples=3)


@pytest.fixture
def write_samples(tmp_path: Path) -> Callable[..., Path]:
    """`write_samples({"a": {"jpg": b"...", "txt": b"..."}})`: a dataset of these members."""

    def write(
        samples: Mapping[str, Mapping[str, bytes]],
        shard_samples: int = 1000,
        labels: Sequence[int] | None = None,
        raw: tuple[int, int, int] | None = None,
    ) -> Path:
        root = tmp_path / f"samples{len(list(tmp_path.iterdir()))}"
        root.mkdir()
        keys, shards = list(samples), []
        for begin in range(0, len(keys), shard_samples):
            chosen = keys[begin : begin + shard_samples]
            own = None if labels is None else labels[begin : begin + shard_samples]
            path = root / f"shard-{len(shards):06d}.tar"
            shards.append(_write_shard(path, {key: samples[key] for key in chosen}, own, raw))
        extensions = sorted({ext for members in samples.values() for ext in members})
        classes = ("a", "b", *map(str, range(2, max(labels or [0]) + 1)))
        manifest = Manifest("0", {}, "", classes, tuple(extensions), tuple(shards))
        (root / "dataset.json").write_text(manifest.dump())
        return root

    return write


def _write_shard(
    path: Path,
    samples: Mapping[str, Mapping[str, bytes]],
    labels: Sequence[int] | None,
    raw: tuple[int, int, int] | None,
) -> ShardEntry:
    """Write tar and index; the first member of each sample is its image."""
    content, rows = bytearray(), Rows()
    for number, (key, members) in enumerate(samples.items()):
        spans = {}
        for ext, data in members.items():
            content += tar.header(f"{key}.{ext}", len(data))
            spans[ext] = MemberRow(len(content), len(data), zlib.crc32(data))
            content += data + tar.padding(len(data))
        kind, data = next(iter(members.items()))
        info = probe(data) if raw is None else ImageInfo("raw", *raw, 1)
        seen = (
            info.height,
            info.width,
            FORMATS.index(info.format),
            info.channels,
            info.orientation,
        )
        offset, size, crc32 = spans.pop(kind)
        label = -1 if labels is None else labels[number]
        rows.add(key.encode(), key.encode(), ImageRow(offset, size, label, *seen, crc32), spans)
    content += tar.END
    path.write_bytes(content)
    metadata = index.metadata_of(len(content), f"crc32:{zlib.crc32(content):08x}", [])
    path.with_suffix(".safetensors").write_bytes(safetensors.serialize(rows.columns(), metadata))
    return entry_of(Index(index_of(path)))


@pytest.fixture
def packed_copy(packed: Path, tmp_path: Path) -> Path:
    """A copy of `packed`, to be damaged."""
    return Path(shutil.copytree(packed, tmp_path / "copy"))


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], None]:
    """`begin(rank, world_size)`: torch.distributed is initialised, as far as anybody asks."""

    def make(rank: int, world_size: int) -> None:
        monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
        monkeypatch.setattr(torch.distributed, "get_rank", lambda: rank)
        monkeypatch.setattr(torch.distributed, "get_world_size", lambda: world_size)

    return make


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """`run_script(code, *arguments, cwd=...)`: what became of a script that people might write."""

    def run(code: str, *arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
        script = tmp_path / "scripts" / "script.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(textwrap.dedent(code))
        with subprocess.Popen(
            [sys.executable, "-X", "faulthandler", script, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(Path(reader.__file__).parent.parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        ) as process:
            try:
                stdout, stderr = process.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)  # it says where each of its threads is
                stdout, stderr = process.communicate()
                pytest.fail(f"The script hangs: {stdout}{stderr}")
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    return run


@pytest.fixture(scope="session")
def truth(packed: Path) -> list[tuple[torch.Tensor, int, str]]:
    """Each sample's pixels as `delivered.CROP` leaves them, its label and its key."""
    dataset = Dataset(packed)
    found = []
    for (image, label), key in zip(dataset, dataset.keys, strict=True):
        top, left = round((image.shape[0] - 48) / 2), round((image.shape[1] - 64) / 2)
        pixels = image[top : top + 48, left : left + 64].transpose(2, 0, 1)
        found.append((torch.from_numpy(pixels.copy()), label, key))
    return found


@pytest.fixture
def shared_memory_alone() -> Iterator[None]:
    """Cached datasets are shared by all processes of a user, and here by one test at a time."""
    with (Path(tempfile.gettempdir()) / f"shardfeed-tests-{os.getuid()}").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def needs_store() -> None:
    """Skips where no store can be read."""
    if sys.platform != "linux":
        pytest.skip("reading from a store needs Linux")
    pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")


@pytest.fixture
def server(packed: Path) -> Iterator[StoreServer]:
    """The packed `source`, served."""
    with serving(packed) as server:
        yield server


@pytest.fixture
def opened(server: StoreServer, tmp_path: Path) -> Iterator[Callable[..., Dataset]]:
    """`opened(split=...)`: the served dataset, with a cache of this test's."""
    found: list[Dataset] = []

    def open_dataset(**options: Any) -> Dataset:
        found.append(Dataset(server.url, **{"cache_dir": tmp_path / "cache", **options}))
        return found[-1]

    yield open_dataset
    while found:
        found.pop().fetching.close()


@pytest.fixture
def write_over(write_samples: Write) -> Write:
    """`write_over((60, 80), {...}, b"...", ext="txt")`: a sample for each content of the member.

    What is no bytes is written as JSON.
    """

    def make(size: tuple[int, int], *contents: Any, ext: str = "json") -> Path:
        image = png(np.zeros((*size, 3), np.uint8))
        data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in contents]
        return write_samples({f"s{n}": {"png": image, ext: each} for n, each in enumerate(data)})

    return make
