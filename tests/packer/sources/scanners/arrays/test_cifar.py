import gzip
import os
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packer.errors import UnusableInput
from packer.run.pack import PackReport
from packer.sources.scanners.arrays.cifar import is_cifar, read_cifar
from reader.format import Manifest

Rows = Callable[..., tuple[np.ndarray, list[int]]]
Write = Callable[..., Path]
ScanOf = Callable[..., Any]
RunPack = Callable[..., PackReport]

TEN = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
NAMES = {10: [f"kind{number}" for number in range(10)]}
NAMES[100] = [f"fine{number:02d}" for number in range(100)]
COARSE = [f"coarse{number:02d}" for number in range(20)]


class Python2Pickler(pickle._Pickler):  # type: ignore[name-defined]
    """Writes bytes as Python 2 wrote its strings, and numpy's names as they were then."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]  # noqa: RUF012

    def save_string(self, text: bytes) -> None:
        self.write(pickle.BINSTRING + len(text).to_bytes(4, "little") + text)
        self.memoize(text)

    dispatch[bytes] = save_string


def python2(content: dict[bytes, Any], tmp_path: Path) -> bytes:
    with open(tmp_path / "pickle", "wb") as file:
        Python2Pickler(file, 2).dump(content)
    data = (tmp_path / "pickle").read_bytes()
    return data.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")


@pytest.fixture(params=[10, 100])
def classes(request: pytest.FixtureRequest) -> int:
    return request.param


@pytest.fixture
def batches(cifar_rows: Rows, classes: int) -> dict[str, tuple[np.ndarray, list[int], list[int]]]:
    """Name of each batch -> pixels, labels, coarse labels."""
    names = TEN if classes == 10 else ["train", "test"]
    found = {}
    for seed, name in enumerate(names):
        pixels, labels = cifar_rows(seed, 7, classes)
        found[name] = pixels, labels, [label // 5 for label in labels]
    return found


@pytest.fixture
def python_files(tmp_path: Path, batches: dict[str, Any], classes: int) -> dict[str, bytes]:
    files = {}
    for name, (pixels, labels, coarse) in batches.items():
        content = {b"batch_label": name.encode(), b"data": pixels}
        content |= (
            {b"labels": labels}
            if classes == 10
            else {b"fine_labels": labels, b"coarse_labels": coarse}
        )
        content[b"filenames"] = [b"image_%d.png" % row for row in range(len(labels))]
        files[name] = python2(content, tmp_path)
    names = [name.encode() for name in NAMES[classes]]
    if classes == 10:
        files["batches.meta"] = python2({b"num_vis": 3072, b"label_names": names}, tmp_path)
        return files | {"readme.html": b"<html>"}
    coarse_names = [name.encode() for name in COARSE]
    meta = {b"fine_label_names": names, b"coarse_label_names": coarse_names}
    return files | {"meta": python2(meta, tmp_path), "file.txt~": b""}


@pytest.fixture
def binary_files(batches: dict[str, Any], classes: int) -> dict[str, bytes]:
    files = {}
    for name, (pixels, labels, coarse) in batches.items():
        rows = [
            (bytes([label]) if classes == 10 else bytes([few, label])) + row.tobytes()
            for row, label, few in zip(pixels, labels, coarse, strict=True)
        ]
        files[f"{name}.bin"] = b"".join(rows)
    names = "\n".join([*NAMES[classes], "", ""]).encode()
    if classes == 10:
        return files | {"batches.meta.txt": names, "readme.html": b"<html>"}
    coarse_names = "\n".join([*COARSE, ""]).encode()
    return files | {"fine_label_names.txt": names, "coarse_label_names.txt": coarse_names}


@pytest.fixture
def four(
    tmp_path: Path,
    python_files: dict[str, bytes],
    binary_files: dict[str, bytes],
    write_tar: Write,
    write_files: Write,
    classes: int,
) -> list[Path]:
    """All published forms of one dataset: two archives and what they unpack to."""
    paths = []
    for kind, files in (("python", python_files), ("binary", binary_files)):
        inside = {f"cifar-{classes}-{kind}/{name}": data for name, data in files.items()}
        paths.append(write_tar(tmp_path / f"cifar-{classes}-{kind}.tar.gz", inside, "w:gz"))
        paths.append(write_files(tmp_path / kind, files))
    return paths


def test_all_published_forms_give_the_same_shards(
    tmp_path: Path, four: list[Path], run_pack: RunPack, classes: int
) -> None:
    manifests = []
    for number, path in enumerate(four):
        report = run_pack(path, tmp_path / str(number))
        assert report.ignored
        manifests.append(Manifest.load(tmp_path / str(number)))
    assert manifests[0].classes == tuple(NAMES[classes])
    assert {shard.split for shard in manifests[0].shards} == {"train", "test"}
    for manifest in manifests[1:]:
        assert manifest.shards == manifests[0].shards
        assert manifest.classes == manifests[0].classes


def test_every_pixel_and_label_comes_back(
    tmp_path: Path,
    four: list[Path],
    batches: dict[str, Any],
    run_pack: RunPack,
    samples_of: Callable[[Path], list[Any]],
) -> None:
    run_pack(four[0], tmp_path / "dst")
    samples = samples_of(tmp_path / "dst")
    assert len({sample.key for sample in samples}) == len(samples) == 7 * len(batches)
    for sample in samples:
        batch, row = sample.key.split("/")
        pixels, labels, _ = (column[int(row)] for column in batches[batch])
        assert (sample.kind, sample.size, sample.label) == ("raw", (32, 32), labels)
        assert sample.data == pixels.reshape(3, 32, 32).transpose(1, 2, 0).tobytes()


def test_the_coarse_label_is_a_member(four: list[Path], scan: ScanOf, classes: int) -> None:
    found = scan(four[0])
    members = {name: data for name, data in found.contents.items() if name.endswith(".cls")}
    expected = {f"{sample.name}.coarse.cls": sample.label // 5 for sample in found.samples}
    assert members == (
        {name: str(label).encode() for name, label in expected.items()} if classes == 100 else {}
    )


def test_the_order_of_classes_can_be_given(four: list[Path], scan: ScanOf, classes: int) -> None:
    names = NAMES[classes][::-1]
    for path in four:
        normal, other = scan(path), scan(path, names)
        assert other.source.classes == tuple(names)
        assert [sample.label for sample in other.samples] == [
            classes - 1 - sample.label for sample in normal.samples
        ]
        with pytest.raises(UnusableInput, match="not in the list of classes"):
            scan(path, names[1:])


@pytest.mark.parametrize("classes", [10], indirect=True)
def test_a_pickle_that_calls_something_is_refused_by_name(
    tmp_path: Path, python_files: dict[str, bytes], write_tar: Write, scan: ScanOf
) -> None:
    class Attack:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "witness"),)

    for name in ("data_batch_3", "batches.meta"):
        files = python_files | {name: pickle.dumps(Attack(), 2)}
        inside = {f"cifar-10-batches-py/{name}": data for name, data in files.items()}
        path = write_tar(tmp_path / f"{name}.tar.gz", inside, "w:gz")
        with pytest.raises(UnusableInput, match=rf"{name} .*would call \w+\.mkdir"):
            scan(path)
    assert not (tmp_path / "witness").exists()


@pytest.mark.parametrize("classes", [10], indirect=True)
def test_a_truncated_archive_is_refused(tmp_path: Path, four: list[Path], scan: ScanOf) -> None:
    data = four[0].read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(UnusableInput, match=r"cut\.tar\.gz is damaged or truncated"):
        scan(tmp_path / "cut.tar.gz")


def test_an_archive_with_a_file_too_large_is_refused(tmp_path: Path, scan: ScanOf) -> None:
    small, large = tarfile.TarInfo("cifar-10/a"), tarfile.TarInfo("cifar-10/data_batch_1.bin")
    large.size = (1 << 28) + 1
    headers = [info.tobuf(tarfile.GNU_FORMAT) for info in (small, large)]
    path = tmp_path / "bomb.tar.gz"
    path.write_bytes(gzip.compress(b"".join(headers) + bytes(1 << 10)))
    with pytest.raises(UnusableInput, match=r"data_batch_1\.bin has 268435457 bytes"):
        scan(path)


@pytest.mark.parametrize("classes", [10], indirect=True)
def test_what_was_scanned_is_packed_though_the_archive_is_gone(
    four: list[Path], scan: ScanOf
) -> None:
    found = scan(four[0])
    before = found.contents
    os.remove(four[0])
    assert found.contents == before


def test_an_archive_whose_first_name_has_gigabytes_is_not_unpacked_to_see(tmp_path: Path) -> None:
    info = tarfile.TarInfo("cifar-10-batches-py")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 200 << 30
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_000)))
    assert not is_cifar(path)
    with pytest.raises(UnusableInput, match="an extended header of"):
        read_cifar(path)
