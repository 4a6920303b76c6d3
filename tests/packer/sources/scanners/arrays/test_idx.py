import gzip
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packer.errors import UnusableInput
from packer.run.pack import PackReport
from reader.format import Manifest

Write = Callable[..., Path]
ScanOf = Callable[..., Any]
RunPack = Callable[..., PackReport]


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "train-images-idx3-ubyte": rng.integers(0, 256, (12, 28, 20), dtype=np.uint8),
        "train-labels-idx1-ubyte": np.arange(12, dtype=np.uint8) % 10,
        "t10k-images-idx3-ubyte": rng.integers(0, 256, (5, 28, 20), dtype=np.uint8),
        "t10k-labels-idx1-ubyte": np.arange(5, dtype=np.uint8),
    }


@pytest.fixture
def files(arrays: dict[str, np.ndarray]) -> dict[str, bytes]:
    return {name: idx(array) for name, array in arrays.items()}


def zipped(files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{name}.gz": gzip.compress(data) for name, data in files.items()}


def test_gzipped_or_not_the_shards_are_the_same(
    tmp_path: Path, files: dict[str, bytes], write_files: Write, run_pack: RunPack
) -> None:
    run_pack(write_files(tmp_path / "plain", files), tmp_path / "one")
    run_pack(write_files(tmp_path / "zipped", zipped(files)), tmp_path / "two")
    report = run_pack(write_files(tmp_path / "zipped", files), tmp_path / "both")
    assert {name for name, _ in report.ignored} == {f"{name}.gz" for name in files}
    one = Manifest.load(tmp_path / "one").shards
    for other in ("two", "both"):
        assert [shard.checksum for shard in Manifest.load(tmp_path / other).shards] == [
            shard.checksum for shard in one
        ]


def test_every_pixel_and_label_comes_back(
    tmp_path: Path,
    files: dict[str, bytes],
    arrays: dict[str, np.ndarray],
    write_files: Write,
    run_pack: RunPack,
    samples_of: Callable[[Path], list[Any]],
) -> None:
    run_pack(write_files(tmp_path / "mnist", zipped(files)), tmp_path / "dst")
    samples = samples_of(tmp_path / "dst")
    assert len({sample.key for sample in samples}) == len(samples) == 17
    for sample in samples:
        split, row = sample.key.split("/")
        name = {"train": "train", "test": "t10k"}[split]
        assert (sample.kind, sample.size) == ("raw", (28, 20))
        assert sample.data == arrays[f"{name}-images-idx3-ubyte"][int(row)].tobytes()
        assert sample.label == arrays[f"{name}-labels-idx1-ubyte"][int(row)]
    assert Manifest.load(tmp_path / "dst").classes == tuple("0123456789")


IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        (IMAGES, b"", "does not begin"),
        (IMAGES, struct.pack(">HBB3I", 0, 9, 3, 12, 28, 20) + bytes(12 * 560), "does not begin"),
        (IMAGES, struct.pack(">HBB3I", 0, 8, 1, 12, 28, 20) + bytes(12 * 560), "does not begin"),
        (IMAGES, struct.pack(">HBB3I", 0, 8, 3, 12, 28, 20) + bytes(12 * 560 - 1), "and"),
        (IMAGES, struct.pack(">HBB3I", 0, 8, 3, 12, 28, 20) + bytes(12 * 560 + 1), "and has more"),
        (
            IMAGES,
            struct.pack(">HBB3I", 0, 8, 3, 2**32 - 1, 2**32 - 1, 2**32 - 1),
            "is not possible",
        ),
        (IMAGES, struct.pack(">HBB3I", 0, 8, 3, 10**6, 28, 28), "is not possible"),
        (IMAGES, struct.pack(">HBB3I", 0, 8, 3, 12, 0, 28), "is not possible"),
        (IMAGES, idx(np.zeros((11, 28, 20), np.uint8)), "has 11 images, and 12 labels"),
        (LABELS, idx(np.zeros(11, np.uint8)), "11 labels"),
        (LABELS, None, "train labels is missing"),
        (IMAGES, None, "train images is missing"),
    ],
)
def test_a_damaged_file_is_refused_by_name(
    tmp_path: Path,
    files: dict[str, bytes],
    write_files: Write,
    scan: ScanOf,
    name: str,
    data: bytes | None,
    reason: str,
    packed: bool,
) -> None:
    if data is None:
        del files[name]
    else:
        files[name] = data
    path = write_files(tmp_path / "mnist", zipped(files) if packed else files)
    with pytest.raises(UnusableInput, match=reason) as error:
        scan(path)
    assert str(path) in str(error.value)


def test_a_gzip_file_that_is_none_or_cut_is_refused(
    tmp_path: Path, files: dict[str, bytes], write_files: Write, scan: ScanOf
) -> None:
    good = zipped(files)[f"{IMAGES}.gz"]
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    for data in (good[:-9], b"text" * 1000, bytes(flipped)):
        path = write_files(tmp_path / "mnist", zipped(files) | {f"{IMAGES}.gz": data})
        with pytest.raises(UnusableInput, match=rf"{IMAGES}\.gz"):
            scan(path)


def test_what_was_scanned_is_packed_though_the_file_is_gone(
    tmp_path: Path, files: dict[str, bytes], write_files: Write, scan: ScanOf
) -> None:
    found = scan(write_files(tmp_path / "mnist", files))
    before = found.contents
    os.remove(tmp_path / "mnist" / IMAGES)
    assert found.contents == before
