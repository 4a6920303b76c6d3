"""Files come back under their own names, and nothing outside the folder is touched."""

import fcntl
import io
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import xxhash
from called_packer import call_packer
from damage import flip
from finished import extract, info, verify
from made_images import encode, make_image, write_files
from other_process import forked
from packing import files_of, run_pack
from PIL import Image

from packer.errors import UnusableInput
from packer.files.atomic import temporary_name
from packer.progress import Progress
from reader.format import Limits, Manifest

WriteDataset = Named = Callable[..., Path]
Cutting = Callable[[Path], Progress]


@pytest.fixture
def named(tmp_path: Path, items: list[Any], write_dataset: WriteDataset) -> Named:
    """`named("../x.jpg", ...)`: a dataset of images with these original names."""

    def make(*names: str) -> Path:
        samples = [
            items[0]._replace(name=name, key=f"k{number}", members={})
            for number, name in enumerate(names)
        ]
        return write_dataset(tmp_path / "named", {"shard-000000.tar": samples}, classes=2)

    return make


@pytest.fixture
def jpegs() -> list[bytes]:
    """Two images."""
    return [encode(make_image(seed), "JPEG") for seed in range(2)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_verbatim_files_come_back_byte_for_byte(tmp_path: Path, source: Path, jobs: int) -> None:
    run_pack(source, tmp_path / "shards", shard_samples=10, jpeg="verbatim")
    report = extract(tmp_path / "shards", tmp_path / "out", jobs)
    assert files_of(tmp_path / "out") == files_of(source)
    assert (report.written, report.present, report.tiled, report.refused) == (39, 0, 0, [])


def test_tiled_images_come_back_by_their_pixels(tmp_path: Path, source: Path, packed: Path) -> None:
    done = call_packer("extract", packed, tmp_path, "--jobs", 2, code=0)
    assert "39 files written, 0 were there, 0 not written" in done.stdout
    assert "39 tiled JPEGs with the original's pixels in other bytes" in done.stdout
    out, originals = files_of(tmp_path), files_of(source)
    assert out.keys() == originals.keys()
    for name, data in out.items():
        one, other = (np.asarray(Image.open(io.BytesIO(d))) for d in (data, originals[name]))
        assert np.array_equal(one, other)
    assert "39 were there" in call_packer("extract", packed, tmp_path).stdout


def test_sidecars_come_with_images(with_sidecars: Path, tmp_path: Path, items: list[Any]) -> None:
    extract(with_sidecars, tmp_path / "out", 1)
    expected = {}
    for item in items:
        expected[item.name] = item.image
        stem = os.path.splitext(item.name)[0]
        expected |= {f"{stem}.{ext}": data for ext, data in item.members.items()}
    assert files_of(tmp_path / "out") == expected


def test_one_split_is_given_back(with_sidecars: Path, packed: Path, tmp_path: Path) -> None:
    assert extract(with_sidecars, tmp_path / "out", 1, split="val").written == 3
    with pytest.raises(UnusableInput, match="no split 'test'; it has 'train', 'val'"):
        extract(with_sidecars, tmp_path / "out", 1, split="test")
    with pytest.raises(UnusableInput, match="'train'; it is not divided into splits"):
        extract(packed, tmp_path / "out", 1, split="train")
    with pytest.raises(UnusableInput, match="is inside the dataset"):
        extract(packed, packed / "out", 1)


def test_raw_images_become_png_or_are_refused_where_they_lie_or_are_large(
    tmp_path: Path, items: list[Any], write_dataset: WriteDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), np.uint8)
    grey = pixels[:, :, 0].copy()
    colour = items[0]._replace(image=pixels.tobytes(), raw=(5, 7, 3), members={})
    other = colour._replace(name="b.png", key="b", image=grey.tobytes(), raw=(5, 7, 1))
    lying = colour._replace(name="c.png", key="c", raw=(5, 8, 3))
    shards = {"shard-000000.tar": [colour, other, lying]}
    folder = write_dataset(tmp_path / "raw", shards, classes=2)
    report = extract(folder, tmp_path / "out", 1)
    assert report.raw == 2
    assert report.refused == [("c.png", "105 bytes are not 8 x 5 pixels of 3 bytes")]
    assert np.array_equal(np.asarray(Image.open(tmp_path / "out/cat/a.0001.png")), pixels)
    assert np.array_equal(np.asarray(Image.open(tmp_path / "out/b.png")), grey)
    monkeypatch.setattr("packer.inspect.extract.Limits", lambda: Limits(bytes=100))
    reasons = {reason for _, reason in extract(folder, tmp_path / "few", 1).refused}
    assert "its pixels have 105 bytes; 100 are the most that become a PNG" in reasons


def test_a_name_without_the_extension_of_a_picture_gets_that_of_its_image(
    tmp_path: Path, named: Named
) -> None:
    extract(named("a", "v1.5", "b/jpg", "c.jpeg", "d.PNG"), tmp_path / "out", 1)
    images = {name for name in files_of(tmp_path / "out") if not name.endswith((".json", ".txt"))}
    assert images == {"a.jpg", "v1.5.jpg", "b/jpg.jpg", "c.jpeg", "d.PNG"}


def test_a_class_that_is_no_folder_is_unlabelled(tmp_path: Path, named: Named) -> None:
    folder = named("a.jpg")
    manifest = replace(Manifest.load(folder), classes=("\ud800", "b"))
    (folder / "dataset.json").write_text(manifest.dump(), "utf-8")
    assert extract(folder, tmp_path / "out", 1).unlabelled == 1


OUTSIDE = ["../x.jpg", "/x.jpg", "a/../../x.jpg", "a//x.jpg", "./x.jpg", "a\0b.jpg"]
OUTSIDE += ["", "..", "a/" * 2048]


@pytest.mark.parametrize(
    ("where", "name"),
    [*(("name", name) for name in OUTSIDE), ("key", "../x"), ("key", "/x"), ("key", "a\0b")],
)
def test_a_name_or_key_that_leads_outside_is_refused(
    tmp_path: Path, items: list[Any], write_dataset: WriteDataset, where: str, name: str
) -> None:
    hostile = items[0]._replace(**{where: name})
    good = items[1]._replace(name="good.jpg", key="good", members={})
    dst = write_dataset(tmp_path / "dst", {"shard-000000.tar": [hostile, good]}, classes=2)
    before = set(tmp_path.rglob("*"))
    report = extract(dst, tmp_path / "in" / "out", 1)
    # The image has the name; the members beside it have the key.
    assert len(report.refused) == (1 if where == "name" else 2)
    found = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert found <= {*(tmp_path / "in" / "out").rglob("*")}
    assert tmp_path / "in" / "out" / "good.jpg" in found
    assert not Path("/x.jpg").exists()
    verify(dst, 1)
    info(dst)


def test_no_symbolic_link_is_followed(tmp_path: Path, named: Named) -> None:
    dst = named("folder/a.jpg", "file.jpg", "good.jpg")
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (elsewhere / "file.jpg").write_bytes(b"precious")
    (out / "folder").symlink_to(elsewhere)
    (out / "file.jpg").symlink_to(elsewhere / "file.jpg")
    for overwrite in (False, True):
        report = extract(dst, out, 1, overwrite=overwrite)
        assert "folder/a.jpg" in dict(report.refused)
        assert files_of(elsewhere) == {"file.jpg": b"precious"}
    assert not (out / "file.jpg").is_symlink()


def test_a_file_has_its_content_on_the_disk_before_it_has_its_name(
    tmp_path: Path, named: Named, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, synced = os.fsync, set()

    def fsync(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    extract(named("a.jpg", "b.jpg"), tmp_path / "out", 1)
    assert {path.stat().st_ino for path in (tmp_path / "out").iterdir()} <= synced


def test_other_content_is_kept_unless_told(tmp_path: Path, named: Named, items: list[Any]) -> None:
    dst, out = named("a.jpg", "b.jpg", "c.jpg"), tmp_path / "out"
    out.mkdir()
    (out / "a.jpg").write_bytes(b"mine")
    (out / "b.jpg").write_bytes(items[0].image)
    (out / "c.jpg").mkdir()
    report = extract(dst, out, 1)
    assert (report.written, report.present) == (0, 1)
    assert [name for name, _ in report.refused] == ["a.jpg", "c.jpg"]
    assert (out / "a.jpg").read_bytes() == b"mine"
    assert [name for name, _ in extract(dst, out, 1, overwrite=True).refused] == ["c.jpg"]
    assert files_of(out) == {"a.jpg": items[0].image, "b.jpg": items[0].image}


def _hard_link(path: Path, other: Path) -> None:
    path.hardlink_to(other)


def _file_to_read(path: Path, other: Path) -> None:
    _hard_link(path, other)
    path.chmod(0o400)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(_hard_link, id="hard link"),
        pytest.param(_file_to_read, id="read-only"),
        pytest.param(Path.symlink_to, id="link"),
        pytest.param(lambda path, _: path.mkdir(), id="folder"),
        pytest.param(lambda path, _: os.mkfifo(path), id="FIFO"),
    ],
)
def test_what_has_the_name_of_a_temporary_file_stays(
    tmp_path: Path,
    named: Named,
    make: Callable[[Path, Path], object],
    overwrite: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dst, other = named("a.jpg"), tmp_path / "other"
    other.write_bytes(b"precious")
    monkeypatch.setattr("secrets.token_hex", lambda _: "0")
    out, name = tmp_path / "out", temporary_name(xxhash.xxh3_64_hexdigest(b"a.jpg"))
    out.mkdir()
    make(out / name, other)
    with monkeypatch.context() as held:
        held.setattr("fcntl.flock", Mock(side_effect=BlockingIOError))  # nothing is removed first
        report = extract(dst, out, 1, overwrite=overwrite)
    assert report.refused == [("a.jpg", "File exists")]
    assert (out / name).exists()
    assert other.read_bytes() == b"precious"


def test_what_a_killed_extraction_left_is_removed_by_the_next_and_nothing_else(
    tmp_path: Path, named: Named
) -> None:
    dst, out = named("a/b/c.jpg", "d.jpg"), tmp_path / "out"

    def die() -> None:
        os.rename = lambda *_, **__: os._exit(9)
        extract(dst, out, 1)

    with forked(die) as child:
        os.waitpid(child, 0)
    [left] = (out / "a/b").iterdir()
    others = [out / f".{'0' * 16}.tmp-host-1-0", out / ".d.jpg.tmp-host-1-0"]
    for path in others:
        path.write_bytes(b"mine")
    held = os.open(out, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_SH)  # as another one that writes does
    extract(dst, out, 1)
    assert left.exists()
    os.close(held)
    extract(dst, out, 1)
    assert {path for path in out.rglob("*") if path.is_file()} == {
        *others,
        out / "a/b/c.jpg",
        out / "d.jpg",
    }


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_second_of_two_files_with_one_name_is_refused(
    tmp_path: Path, items: list[Any], write_dataset: WriteDataset, jobs: int, overwrite: bool
) -> None:
    one, two = (item._replace(members={}) for item in items[:2])
    shards = {"a/shard.tar": [one, two._replace(name=one.name)]}
    shards["b/shard.tar"] = [one._replace(key="other", image=two.image)]
    dst = write_dataset(tmp_path / "twice", shards, classes=2)
    report = extract(dst, tmp_path / "out", jobs, overwrite=overwrite)
    assert report.refused == [(one.name, "another file of the dataset has the same name")] * 2
    assert (tmp_path / "out" / one.name).read_bytes() == one.image


def test_an_index_that_is_cut_short_meanwhile_spoils_no_file(
    packed: Path, tmp_path: Path, cut_meanwhile: Cutting
) -> None:
    copy = shutil.copytree(packed, tmp_path / "copy")
    index = copy / Manifest.load(copy).shards[0].index
    report = extract(copy, tmp_path / "out", 1, progress=cut_meanwhile(index))
    assert (report.written, report.refused) == (39, [])
    assert extract(packed, tmp_path / "out", 1).present == 39
    [(file, reason)] = extract(copy, tmp_path / "again", 1).refused
    assert file == "shard-000000.tar"
    assert "shard-000000.safetensors is not an index" in reason


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("suffix", [".tar", ".safetensors"])
def test_a_missing_shard_and_a_damaged_file_are_named_and_the_others_are_given_back(
    packed: Path, tmp_path: Path, suffix: str, jobs: int
) -> None:
    copy = shutil.copytree(packed, tmp_path / "copy")
    first, second, *others = Manifest.load(copy).shards
    (copy / first.file).with_suffix(suffix).unlink()
    flip(copy / second.file, 1000)
    done = call_packer("extract", copy, tmp_path / "out", "--json", "--jobs", jobs, code=1)
    report = json.loads(done.stdout)
    damaged, missing = sorted(report["refused"], key=lambda refused: str(refused["file"]))
    assert missing["file"] == first.file
    assert f"none of its {first.samples} samples is written" in missing["reason"]
    assert "No such file" in missing["reason"]
    assert f"not written: {first.file}: " in done.stderr
    assert "damaged" in damaged["reason"]
    assert report["written"] == second.samples - 1 + sum(shard.samples for shard in others)
    assert not list((tmp_path / "out").rglob("*.part"))


def test_only_numbers_of_files_lie_in_files_again(tmp_path: Path, jpegs: list[bytes]) -> None:
    flat, folders = tmp_path / "flat", tmp_path / "folders"
    for number, image in enumerate(jpegs):
        write_files(folders, {f"{number}/x.jpg": image})
        write_files(flat, {f"{number}.jpg": image, f"{number}.cls": str(number)})
    for source in (flat, folders):
        dst, out = tmp_path / "dst" / source.name, tmp_path / "out" / source.name
        run_pack(source, dst, jpeg="verbatim")
        assert extract(dst, out, 1).unlabelled == 0
        assert files_of(out) == files_of(source)


def test_classes_and_splits_in_no_name_are_counted(tmp_path: Path, jpegs: list[bytes]) -> None:
    (tmp_path / "x.jpg").write_bytes(jpegs[0])
    (tmp_path / "list.csv").write_text("path,label,split\nx.jpg,dog,train\n")
    call_packer("pack", tmp_path / "list.csv", tmp_path / "dst", code=0)
    spoken = call_packer("extract", tmp_path / "dst", tmp_path / "out").stdout
    assert (
        "1 sample without the class in the file's name; 1 sample without the split "
        "in the file's name" in spoken
    )
    report = json.loads(call_packer("extract", tmp_path / "dst", tmp_path / "out", "--json").stdout)
    assert (report["unlabelled"], report["unsplit"]) == (1, 1)


def test_labels_of_another_folder_are_counted(tmp_path: Path, jpegs: list[bytes]) -> None:
    files: dict[str, bytes | str] = {
        "data.yaml": "train: images/train2017\nval: images/val2017\nnames: [dog]\n"
    }
    for split, image in zip(("train2017", "val2017"), jpegs, strict=True):
        files |= {f"images/{split}/1.jpg": image, f"labels/{split}/1.txt": "0 1 1 1 1"}
    write_files(tmp_path / "yolo", files)
    call_packer("pack", tmp_path / "yolo", tmp_path / "dst", code=0)
    spoken = call_packer("extract", tmp_path / "dst", tmp_path / "out").stdout
    assert (tmp_path / "out" / "images" / "val2017" / "1.txt").exists()
    assert (
        "; 2 members written by the keys of their samples (folders of labels and lists of" in spoken
    )
    assert "in the file's name" not in spoken
