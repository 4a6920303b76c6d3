import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import xxhash
from made_images import encode, make_image

from packer.files.atomic import remove_leavings
from packer.images.encode import Policy
from packer.images.encode import encode as encode_image
from packer.samples.records import Sample
from packer.shards.shard_writer import ShardWriter, entry_of, index_of, is_finished
from reader.format import Index, ShardEntry

Rejected = Sequence[tuple[str, str]]
Images = list[tuple[Sample, bytes]]
AS_THEY_ARE = Policy(tiled=False)


@pytest.fixture(scope="module")
def images() -> Images:
    """A JPEG, a PNG and a GIF, with a name for each that is odd in its own way."""
    names = [("cat/a.jpg", "cat/a"), (os.fsdecode(b"dog/\xff.png"), "dog/%FF")]
    names += [("猫" * 60 + "/" + "y" * 90 + ".gif", "猫" * 60 + "/" + "y" * 90)]
    kinds = ["JPEG", "PNG", "GIF"]
    return [
        (Sample(name, key, label, 1, 1), encode(make_image(label, 20 + label, 30), kind))
        for label, ((name, key), kind) in enumerate(zip(names, kinds, strict=True))
    ]


def write(
    path: Path, images: Sequence[tuple[Sample, bytes]], rejected: Rejected = ()
) -> ShardEntry:
    with ShardWriter(path) as writer:
        for sample, data in images:
            writer.add(sample, encode_image(data, AS_THEY_ARE))
        writer.finish(rejected)
    return entry_of(Index(index_of(path)))


def test_the_standard_library_reads_the_tar(tmp_path: Path, images: Images) -> None:
    write(tmp_path / "shard.tar", images)
    with tarfile.open(tmp_path / "shard.tar", "r:") as archive:
        members = archive.getmembers()
        contents = [archive.extractfile(member).read() for member in members]  # type: ignore
    assert [member.name for member in members] == [
        f"{sample.key}.{ext}"
        for (sample, _), kind in zip(images, ("jpg", "png", "gif"), strict=True)
        for ext in (kind, "cls")
    ]
    assert contents[::2] == [data for _, data in images]
    assert contents[1::2] == [b"0", b"1", b"2"]
    for member in members:
        assert member.isreg()
        assert (member.mode, member.mtime, member.uid, member.gid) == (0o644, 0, 0, 0)
        assert (member.uname, member.gname) == ("", "")


def test_samples_without_a_label_have_no_member_for_it(tmp_path: Path, images: Images) -> None:
    sample, data = images[0]
    write(tmp_path / "shard.tar", [(Sample(sample.name, sample.key, -1, 1, 1), data)])
    index = Index(tmp_path / "shard.safetensors")
    assert index.columns["label"].tolist() == [-1]
    assert index.members == []
    with tarfile.open(tmp_path / "shard.tar") as archive:
        assert archive.getnames() == ["cat/a.jpg"]


def test_the_entry_measures_the_files(tmp_path: Path, images: Images) -> None:
    entry = write(tmp_path / "shard.tar", images)
    tar, index = (tmp_path / name for name in (entry.file, entry.index))
    assert (entry.bytes, entry.index_bytes) == (tar.stat().st_size, index.stat().st_size)
    assert entry.checksum == f"xxh3-128:{xxhash.xxh3_128_hexdigest(tar.read_bytes())}"
    assert entry.index_checksum == f"xxh3-128:{xxhash.xxh3_128_hexdigest(index.read_bytes())}"
    assert entry.samples == 3
    assert entry_of(Index(index_of(tar))) == entry


def test_what_was_rejected_is_kept_in_the_index(tmp_path: Path, images: Images) -> None:
    rejected = [(os.fsdecode(b"cat/\xff.jpg"), "it is empty"), ("猫.jpg", "it is damaged")]
    for packed in (images, []):
        entry = write(tmp_path / "shard.tar", packed, rejected)
        index = Index(tmp_path / "shard.safetensors")
        assert index.rejected == rejected
        assert entry.samples == len(index) == len(packed)
        with tarfile.open(tmp_path / "shard.tar") as archive:
            assert len(archive.getnames()) == 2 * len(packed)


def test_an_unfinished_shard_leaves_nothing(tmp_path: Path, images: Images) -> None:
    writer = ShardWriter(tmp_path / "shard.tar")
    with writer:
        writer.add(images[0][0], encode_image(images[0][1], AS_THEY_ARE))
        assert not (tmp_path / "shard.tar").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_shard_is_finished_with_tar_and_index_alone(tmp_path: Path, images: Images) -> None:
    path = tmp_path / "shard.tar"
    assert not is_finished(path)
    write(path, images)
    assert is_finished(path)
    path.rename(tmp_path / "elsewhere")
    assert not is_finished(path)
    (tmp_path / "elsewhere").rename(path)
    path.with_suffix(".safetensors").unlink()
    assert not is_finished(path)


def test_what_killed_writers_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path / "shard-000000.tar")
    assert list(tmp_path.iterdir())
    kept = {"shard-000001.tar", ".shard-notes", "shard.tmp-1", "notes.txt"}
    for name in kept:
        (tmp_path / name).write_text("kept")
    remove_leavings([tmp_path], "shard-000000.tar".__eq__)
    assert {path.name for path in tmp_path.iterdir()} == kept
    with writer:
        pass  # the writer itself is left at last, and finds its file gone
