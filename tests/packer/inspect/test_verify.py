"""Every byte of a dataset is proven, or named."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer
from damage import flip
from finished import verify
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from s3_server import S3Server

from packer.images.probe import probe
from packer.progress import Progress
from reader.format import FORMATS, Index, Manifest, tar

WriteDataset = Callable[..., Path]
Cutting = Callable[[Path], Progress]
MANY = settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def spans(folder: Path) -> Iterator[tuple[str, str, str, range]]:
    """Shard, key, extension and bytes of every member with its header and padding."""
    for shard in Manifest.load(folder).shards:
        index = Index(folder / shard.index)
        for row in range(len(index)):
            for ext in {*FORMATS, *index.members}:
                if span := index.span(ext, row):
                    start = span[0] - len(tar.header(f"{index.key(row)}.{ext}", span[1]))
                    end = span[0] + tar.padded(span[1])
                    yield shard.file, index.key(row), ext, range(start, end)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("decode", [False, True])
def test_a_sound_dataset_has_no_damage(packed: Path, jobs: int, decode: bool) -> None:
    report = verify(packed, jobs, decode)
    assert report.damages == []
    assert (report.samples, report.shards) == (39, 4)
    assert report.bytes == sum(shard.bytes for shard in Manifest.load(packed).shards)


@given(st.data())
@MANY
def test_a_flipped_bit_in_a_tar_names_its_member(with_sidecars: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(["train/shard-000000.tar", "val/shard-000000.tar"]))
    at = data.draw(st.integers(0, (with_sidecars / file).stat().st_size - 1))
    bit = data.draw(st.integers(0, 7))
    flip(with_sidecars / file, at, bit)
    damages = verify(with_sidecars, 1).damages
    flip(with_sidecars / file, at, bit)
    assert {damage.file for damage in damages} == {file}
    found = [
        (key, ext) for name, key, ext, span in spans(with_sidecars) if name == file and at in span
    ]
    if not found:
        assert damages[0].start == at
        return
    (place,) = found
    assert (damages[0].key, damages[0].member) == place
    assert damages[0].start is not None
    assert damages[0].start <= at < (damages[0].stop or damages[0].start + 1)
    assert {damage.key for damage in damages[1:]} <= {None, place[0]}


@given(
    st.sampled_from(["train/shard-000000.safetensors", "dataset.json"]),
    st.integers(0, 100_000),
    st.integers(0, 7),
)
@settings(MANY, max_examples=10)  # an image is looked at in a process of its own
def test_flipped_index_bits_are_found(with_sidecars: Path, file: str, at: int, bit: int) -> None:
    path = with_sidecars / file
    flip(path, at, bit)
    damages = verify(with_sidecars, 1).damages
    flip(path, at, bit)
    assert damages[0].file == file


@pytest.mark.parametrize(
    "column", ["offset", "size", "label", "height", "width", "crc32", "channels", "seg.png.crc32"]
)
def test_a_wrong_value_in_an_index_names_its_sample(with_sidecars: Path, column: str) -> None:
    path = with_sidecars / "train" / "shard-000000.safetensors"
    values = Index(path).columns[column]
    content = path.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    begin = 8 + int.from_bytes(content[:8], "little") + header[column]["data_offsets"][0]
    flip(path, begin + values.itemsize)  # the lowest bit of row 1
    damages = verify(with_sidecars, 1).damages
    key = Index(path).key(1)
    assert key in {damage.key for damage in damages}
    assert {damage.key for damage in damages} <= {None, key}


@pytest.mark.parametrize("tail", [b"", b"\0", bytes(512)])
def test_a_tar_that_is_cut_short_or_goes_on_is_named(copy: Path, tail: bytes) -> None:
    path = copy / "shard-000001.tar"
    content = path.read_bytes()
    path.write_bytes(content + tail if tail else content[: len(content) // 2])
    report = verify(copy, 1)
    damages = report.damages
    assert {damage.file for damage in damages} == {"shard-000001.tar"}
    assert (report.samples, report.lost) == ((39, 0) if tail else (34, 5))
    assert not report.damaged
    if tail:
        (damage,) = damages
        assert damage.start == len(content)
    else:
        cause, sample = damages
        size = len(content)
        assert cause.reason == f"it has {size // 2} bytes, and dataset.json has {size}"
        assert sample.reason == "the tar ends before its end; samples not whole: 5"


@pytest.mark.parametrize("suffix", [".tar", ".safetensors"])
def test_a_file_that_is_missing_is_named(copy: Path, suffix: str) -> None:
    name = f"shard-000002{suffix}"
    (copy / name).unlink()
    report = verify(copy, 2)
    (damage,) = report.damages
    assert (damage.file, report.samples + report.lost) == (name, 39)
    assert report.lost == next(s.samples for s in Manifest.load(copy).shards if "2" in s.file)
    assert "No such file" in damage.reason


def test_exchanged_shards_are_named(copy: Path) -> None:
    for suffix in (".tar", ".safetensors"):
        one, other = copy / f"shard-000000{suffix}", copy / f"shard-000001{suffix}"
        content = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(content)
    found = {damage.file for damage in verify(copy, 1).damages}
    assert found >= {"shard-000000.tar", "shard-000001.tar"}


def test_a_key_that_comes_twice_is_named_or_the_index_that_is_cut_short_before_they_are_compared(
    tmp_path: Path,
    items: list[Any],
    write_dataset: WriteDataset,
    cut_meanwhile: Cutting,
) -> None:
    shards = {"shard-000000.tar": items, "shard-000001.tar": items[1:2]}
    folder = write_dataset(tmp_path / "twice", shards, classes=2)
    (damage,) = verify(folder, 2).damages
    assert (damage.file, damage.key) == ("shard-000001.tar", "cat/with%20space")
    assert "shard-000000.tar" in damage.reason
    index = folder / Manifest.load(folder).shards[0].index
    (damage,) = verify(folder, 1, progress=cut_meanwhile(index)).damages
    assert (damage.file, "truncated" in damage.reason) == (index.name, True)


def test_a_label_outside_the_classes_is_named(
    tmp_path: Path, items: list[Any], write_dataset: WriteDataset
) -> None:
    damages = verify(write_dataset(tmp_path / "few", {"shard-000000.tar": items}, 1), 1).damages
    assert [damage.key for damage in damages] == [items[1].key, items[3].key]
    assert "classes" in damages[0].reason


def test_an_image_that_does_not_decode_is_named(
    tmp_path: Path, items: list[Any], write_dataset: WriteDataset
) -> None:
    image = items[0].image
    tables = image.index(b"\xff\xc4") + 5  # how many Huffman codes there are of each length
    broken = image[:tables] + b"\xff" * 16 + image[tables + 16 :]
    samples = [items[0]._replace(image=broken, info=probe(image)), items[2]]
    folder = write_dataset(tmp_path / "broken", {"shard-000000.tar": samples}, classes=2)
    assert verify(folder, 1).damages == []
    assert [damage.key for damage in verify(folder, 1, decode=True).damages] == [items[0].key]


def test_an_index_that_is_cut_short_meanwhile_is_checked_as_it_was_read_and_named_by_what_reads_on(
    copy: Path, cut_meanwhile: Cutting
) -> None:
    entry = Manifest.load(copy).shards[0]
    index = copy / entry.index
    content = index.read_bytes()
    report = verify(copy, 1, progress=cut_meanwhile(index))
    assert (report.damages, report.samples) == ([], 39)
    (found,) = {damage.file for damage in verify(copy, 1).damages}
    assert found == index.name
    index.write_bytes(content)  # and decoding opens it once more
    (damage,) = verify(copy, 1, decode=True, progress=cut_meanwhile(index)).damages
    assert damage.file == entry.file
    assert f"{entry.index} is not an index: it is truncated" in damage.reason


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_an_image_that_ends_the_process_is_named_and_the_others_are_decoded(
    with_faulty: tuple[Path, Path, str], jobs: int
) -> None:
    _, shards, key = with_faulty
    flip(shards / "shard-000001.tar", 512 + 700)  # of another sample than the one that ends it
    found = call_packer("verify", shards, "--decode", "--jobs", jobs, code=1)
    assert "Traceback" not in found.stderr
    assert f"shard-000000.tar, sample {key!r}, member .jpg, bytes" in found.stderr
    assert "decoding it ends the process (Segmentation fault (signal 11))." in found.stderr
    assert "shard-000001.tar, sample" in found.stderr
    # Without --decode it is looked at where the index is damaged.
    index = shards / "shard-000000.safetensors"
    flip(index, index.read_bytes().index(b".jpg"))  # in a name
    found = call_packer("verify", shards, "--jobs", jobs, code=1)
    assert f"sample {key!r}, member .jpg" in found.stderr
    assert "decoding it ends the process" in found.stderr


def test_shards_are_checked_also_without_a_sound_manifest(copy: Path) -> None:
    (copy / "dataset.json").write_text("{")
    flip(copy / "shard-000003.tar", 600)
    report = verify(copy, 2)
    assert [damage.file for damage in report.damages][:2] == ["dataset.json", "shard-000003.tar"]
    assert report.damages[1].key is not None
    assert report.samples == 39
    said = call_packer("verify", copy, "--jobs", 1).stderr
    assert "compare: 39 of 39 samples" in said
    assert "decode:" not in said


def test_the_summary_counts_each_damaged_sample_once_whatever_was_found_of_it(copy: Path) -> None:
    assert call_packer("verify", copy).stdout.endswith("; nothing is damaged\n")
    damaged = [("shard-000000.tar", 0), ("shard-000000.tar", 3), ("shard-000002.tar", 1)]
    for file, row in damaged:
        index = Index(copy / Path(file).with_suffix(".safetensors"))
        first, size = index.span("jpg", row) or (0, 0)
        for at in (first - 300, first + 1, first + size - 1):  # in its header, and twice in it
            flip(copy / file, at)
    done = call_packer("verify", copy, "--decode", code=1)
    assert len(done.stderr.splitlines()) > 5
    assert "; 3 samples damaged in 2 shards" in done.stdout
    assert json.loads(call_packer("verify", copy, "--json").stdout)["damaged_samples"] == 3
    (copy / "shard-000001.tar").unlink()
    said = call_packer("verify", copy).stdout
    assert said.startswith(f"{copy}: 39 samples in 4 shards, ")
    assert "; 10 of 39 samples lost, 3 samples damaged in 2 shards, 1 finding outside" in said
    assert json.loads(call_packer("verify", copy, "--json").stdout)["lost"] == 10


def test_shards_that_no_dataset_json_lists_are_named(copy: Path) -> None:
    shutil.copytree(copy, copy / "nested")
    left = [copy / "val" / name for name in ("shard-000000.tar", "shard-000000.safetensors")]
    for path in (*left, copy / "val" / "notes.tar"):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    done = call_packer("verify", copy, code=1)
    assert "nothing is damaged, 2 files not in dataset.json" in done.stdout
    assert "unlisted: val/shard-000000.tar: dataset.json does not list it" in done.stderr
    assert "unlisted: val/shard-000000.safetensors: " in done.stderr
    assert "notes.tar" not in done.stderr
    assert "nested" not in done.stderr
    (copy / ".packing.json").touch()  # they may be those of an append
    call_packer("verify", copy, code=0)


def test_shards_in_a_store_that_no_dataset_json_lists_are_named(
    store: S3Server, packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    shutil.copytree(packed, store.folder / "shards")
    call_packer("verify", "s3://bucket/shards", code=0)
    (store.folder / "shards" / "val").mkdir()
    (store.folder / "shards" / "val" / "shard-000000.tar").touch()
    done = call_packer("verify", "s3://bucket/shards", "--json", code=1)
    assert json.loads(done.stdout)["unlisted"] == ["val/shard-000000.tar"]
