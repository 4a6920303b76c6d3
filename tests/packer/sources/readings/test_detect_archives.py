"""Every kind of archive by the command line, and what hostile bytes do to it."""

import contextlib
import gzip
import io
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import BadImage, UnusableInput
from packer.options.declared import SourceOptions
from packer.run.pack import PackReport
from packer.samples.records import Sample
from packer.sources.readings.detect import read
from reader.format import Manifest, ShardfeedError

Write = Callable[..., Path]
KINDS = ["shard.tar", "shards", "images.tar", "images.zip", "splits", "cifar.tar.gz", "mnist"]
COUNT = 24


@pytest.fixture(scope="module")
def sources(
    tmp_path_factory: pytest.TempPathFactory,
    make_jpegs: Callable[..., dict[str, bytes]],
    write_tar: Write,
    write_files: Write,
) -> Path:
    """A folder with a source of `COUNT` samples of each of `KINDS`; cifar.tar.gz has 6 x 10."""
    root = tmp_path_factory.mktemp("sources")
    images = list(make_jpegs(*map(str, range(COUNT))).values())
    shard = {}
    for number, image in enumerate(images):
        shard |= {f"{number:03d}.jpg": image, f"{number:03d}.cls": b"%d" % (number % 3)}
    folders = {f"{'cat' if n % 2 else 'dog'}/{n}.jpg": image for n, image in enumerate(images)}
    write_tar(root / "shard.tar", shard)
    (root / "shards").mkdir()
    half = dict(list(shard.items())[:COUNT])
    write_tar(root / "shards" / "set-000.tar", half)
    write_tar(root / "shards" / "set-001.tar", half)
    write_tar(root / "images.tar", folders)
    (root / "splits").mkdir()
    write_tar(root / "splits" / "train.tar", dict(list(folders.items())[: COUNT // 2]))
    write_tar(root / "splits" / "val.tar", dict(list(folders.items())[COUNT // 2 :]))
    with zipfile.ZipFile(root / "images.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in folders.items():
            archive.writestr(name, data)
    rows = b"".join(bytes([row]) + bytes([row * 20]) * 3072 for row in range(10))
    names = [*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin"]
    batches = dict.fromkeys(names, rows) | {"batches.meta.txt": b"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"}
    cifar = {f"cifar-10-batches-bin/{name}": data for name, data in batches.items()}
    write_tar(root / "cifar.tar.gz", cifar, "w:gz")
    pixels = np.random.default_rng(0).integers(0, 256, (COUNT, 28, 28), dtype=np.uint8)
    header = struct.pack(">4B3I", 0, 0, 8, 3, COUNT, 28, 28)
    mnist = {"train-images-idx3-ubyte.gz": gzip.compress(header + pixels.tobytes())}
    header = struct.pack(">4BI", 0, 0, 8, 1, COUNT)
    mnist |= {"train-labels-idx1-ubyte.gz": gzip.compress(header + bytes(range(COUNT)))}
    write_files(root / "mnist", mnist)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_run_is_finished_by_the_same_command(
    tmp_path: Path,
    sources: Path,
    kind: str,
    start_packer: Callable[..., "subprocess.Popen[str]"],
    run_packer: Callable[..., "subprocess.CompletedProcess[str]"],
    run_pack: Callable[..., PackReport],
    files_of: Callable[[Path], dict[str, bytes]],
) -> None:
    dst = tmp_path / "dst"
    command = ("pack", sources / kind, dst, "--jobs", 1, "--shard-samples", 1, "--jpeg", "verbatim")
    with start_packer(*command) as process:
        while process.poll() is None and not list(dst.rglob("*.tar")):
            pass
        process.kill()
        process.communicate()
    done = run_packer(*command)
    assert done.returncode == 0, done.stderr
    run_pack(sources / kind, tmp_path / "undisturbed", shard_samples=1, jpeg="verbatim")
    assert files_of(dst) == files_of(tmp_path / "undisturbed")
    samples = sum(shard.samples for shard in Manifest.load(dst).shards)
    assert samples == (60 if kind.startswith("cifar") else COUNT)


def error_of(path: Path) -> str | None:
    """Read everything as packing does; what is wrong is a ShardfeedError and nothing else."""
    try:
        source = read(path, SourceOptions()).open(None)
        for record in source.scan():
            if isinstance(record, Sample):
                record.key.encode()
                with contextlib.suppress(BadImage):
                    source.files.read(record)
    except ShardfeedError as error:
        return str(error)
    return None


@given(
    kind=st.sampled_from(["shard.tar", "images.tar", "images.zip"]),
    positions=st.lists(st.integers(0, 2**16), min_size=1, max_size=4),
    how=st.sampled_from(["set", "cut", "insert"]),
    what=st.binary(max_size=9),
)
def test_no_damage_is_more_than_an_error_that_names_the_file(
    sources: Path,
    tmp_path_factory: pytest.TempPathFactory,
    kind: str,
    positions: list[int],
    how: str,
    what: bytes,
) -> None:
    data = bytearray((sources / kind).read_bytes())
    for position in positions:
        # The headers are at the beginning of a tar, and at the end of a zip.
        start = len(data) - position % 2500 if kind == "images.zip" else position % 4000
        end = start if how == "insert" else start + len(what)
        data[start:end] = b"" if how == "cut" else what
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(data)
    error = error_of(path)
    assert error is None or str(path) in error


def test_a_zip_at_the_end_of_a_tar_does_not_make_it_a_zip(
    tmp_path: Path, make_jpegs: Callable[..., dict[str, bytes]], write_tar: Write
) -> None:
    inside = io.BytesIO()
    with zipfile.ZipFile(inside, "w") as archive:
        archive.writestr("a", "b")
    files = make_jpegs("x.jpg") | {"x.cls": b"0", "x.zip": inside.getvalue()}
    path = write_tar(tmp_path / "a.tar", files)
    with tarfile.open(path) as archive:
        path.write_bytes(path.read_bytes()[: archive.getmembers()[-1].offset_data + 1024])
    (sample,) = read(path, SourceOptions()).open(None).scan()
    assert isinstance(sample, Sample)
    assert sample.members == ("zip",)


def test_what_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.listdir", refuse)
    with pytest.raises(UnusableInput, match=rf"{tmp_path} cannot be read: Permission denied"):
        read(tmp_path, SourceOptions()).open(None)
