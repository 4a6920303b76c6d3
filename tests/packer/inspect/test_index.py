"""Tars made elsewhere become a dataset, and every member is in it or named."""

import errno
import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from called_packer import call_packer
from damage import flip
from finished import extract, verify
from ids import named
from made_images import encode, make_image

from packer.errors import UnusableInput
from packer.files.hashed_file import HashedFile
from packer.inspect.index import index
from reader import Dataset
from reader.format import Index, Limits, Manifest

FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


@pytest.fixture(scope="session")
def jpeg() -> bytes:
    return encode(make_image(1, 20, 30), "JPEG")


@pytest.fixture(scope="session")
def png() -> bytes:
    return encode(make_image(2, 10, 12), "PNG")


def write_tar(
    path: Path, *members: tuple[str, bytes] | tarfile.TarInfo, kind: int = tarfile.PAX_FORMAT
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w", format=kind) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size, info.mtime = len(member[1]), 1.5  # type: ignore[assignment]
                archive.addfile(info, io.BytesIO(member[1]))
    return path


def special(name: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "a.jpg"
    return info


def members_of(folder: Path, split: str | None = None) -> dict[str, dict[str, bytes]]:
    """Every member of every sample, read by the reader."""
    dataset = Dataset(folder, split)
    found: dict[str, dict[str, bytes]] = {}
    for number, key in enumerate(dataset.keys):
        shard, row = dataset.locate(number)
        exts = {*Manifest.load(folder).fields, *shard.index.members}
        found[key] = {ext: shard.read(row, ext) for ext in exts if shard.index.span(ext, row)}
    return found


@pytest.mark.parametrize("kind", FORMATS, ids=["ustar", "gnu", "pax"])
def test_every_kind_of_header_is_read(tmp_path: Path, jpeg: bytes, png: bytes, kind: int) -> None:
    long = "d" * 90 + "/" + "n" * 90
    samples = {
        "a": {"jpg": jpeg, "cls": b"1", "json": b"{}"},
        "b/猫": {"png": png, "cls": b"0\n", "seg.png": png},
        long: {"jpg": jpeg, "txt": b""},
    }
    pairs = [(f"{key}.{ext}", data) for key, s in samples.items() for ext, data in s.items()]
    path = write_tar(tmp_path / "x.tar", *pairs, kind=kind)
    before = path.read_bytes()
    report = index(tmp_path, 1)
    assert (report.samples, report.shards, report.classes, report.rejected) == (3, 1, 2, [])
    assert members_of(tmp_path) == samples
    assert Dataset(tmp_path).labels.tolist() == [1, 0, -1]
    assert path.read_bytes() == before
    assert verify(tmp_path, 1, decode=True).damages == []


@pytest.mark.parametrize("ext", ["jfif", "jpe"])
def test_what_packing_takes_for_an_image_is_one(tmp_path: Path, jpeg: bytes, ext: str) -> None:
    write_tar(tmp_path / "a.tar", (f"x.{ext}", jpeg), ("x.cls", b"3"))
    assert index(tmp_path, jobs=1).samples == 1


def test_gnu_tar_s_own_archives_are_read(tmp_path: Path, jpeg: bytes) -> None:
    source = tmp_path / "source"
    (source / "cat").mkdir(parents=True)
    for name in ("cat/a.jpg", "cat/" + "b" * 150 + ".JPG", "c.JPEG"):
        (source / name).write_bytes(jpeg)
    (tmp_path / "tars").mkdir()
    command = ["tar", "--sort=name", "-cf", tmp_path / "tars" / "x.tar", "-C", source, "."]
    subprocess.run(command, check=True)
    report = index(tmp_path / "tars", 1)
    assert (report.samples, report.rejected) == (3, [])
    assert set(Dataset(tmp_path / "tars").keys) == {"c", "cat/a", "cat/" + "b" * 150}
    extract(tmp_path / "tars", tmp_path / "out", 1)
    assert (tmp_path / "out" / "c.JPEG").read_bytes() == jpeg


def test_sub_folders_are_splits(tmp_path: Path, jpeg: bytes) -> None:
    write_tar(tmp_path / "train" / "x.tar", ("a.jpg", jpeg), ("b.jpg", jpeg))
    write_tar(tmp_path / "val" / "x.tar", ("c.jpg", jpeg))
    assert index(tmp_path, 2).shards == 2
    assert Manifest.load(tmp_path).splits == ("train", "val")
    assert list(members_of(tmp_path, "val")) == ["c"]


def test_members_that_lie_apart_make_one_sample(tmp_path: Path, jpeg: bytes) -> None:
    write_tar(
        tmp_path / "x.tar",
        *[("a.jpg", jpeg), ("b.json", b'{"label": 3}'), ("a.cls", b"7"), ("b.jpg", jpeg)],
        *[("a.txt", b"A"), ("b.txt", b"B")],
    )
    assert index(tmp_path, 1).rejected == []
    found = members_of(tmp_path)
    assert found["a"] == {"jpg": jpeg, "cls": b"7", "txt": b"A"}
    assert found["b"] == {"jpg": jpeg, "json": b'{"label": 3}', "txt": b"B"}
    assert dict(zip(found, Dataset(tmp_path).labels.tolist(), strict=True)) == {"a": 7, "b": 3}


def test_of_several_images_the_plain_one_counts(tmp_path: Path, jpeg: bytes, png: bytes) -> None:
    write_tar(
        tmp_path / "x.tar",
        *[("a.seg.png", png), ("a.jpg", jpeg), ("b.jpg", jpeg), ("b.png", png)],
        *[("c.input.png", png), ("c.target.png", png)],
    )
    assert index(tmp_path, 1).rejected == []
    columns = Index(tmp_path / "x.safetensors").columns
    assert columns["height"].tolist() == [20, 20, 10]
    assert members_of(tmp_path)["c"] == {"png": png, "target.png": png}
    assert members_of(tmp_path)["b"] == {"jpg": jpeg, "png": png}


@pytest.mark.parametrize(
    ("members", "rejected"),
    [
        ([("b.json", b"{}"), ("b.txt", b"")], {"b.json": "no image", "b.txt": "no image"}),
        ([("b.jpg", b"text")], {"b.jpg": "not an image"}),
        (
            [("noext", b""), (".hidden", b""), ("d/.x", b"")],
            dict.fromkeys(("noext", ".hidden", "d/.x"), "no extension"),
        ),
        ([("../../b.jpg", b"")], {"../../b.jpg": "leads outside"}),
        ([("/b.jpg", b"")], {"/b.jpg": "leads outside"}),
        ([("__meta__/b.jpg", b"")], {"__meta__/b.jpg": "metadata"}),
        ([("a.cls", b"cat")], {"a.cls": "no class number"}),
        ([("a.cls", b"99999999999")], {"a.cls": "no class number"}),
        ([("a.jpg", b"again")], {"a.jpg": "a member .jpg already"}),
        ([special("b.jpg", tarfile.SYMTYPE)], {"b.jpg": "a link to 'a.jpg'"}),
        ([special("b.jpg", tarfile.LNKTYPE)], {"b.jpg": "a link to 'a.jpg'"}),
        ([special("b.jpg", tarfile.FIFOTYPE)], {"b.jpg": "not a regular file"}),
        ([special("folder", tarfile.DIRTYPE)], {}),
    ],
    ids=named,
)
def test_what_is_no_part_of_a_sample_is_named(
    tmp_path: Path,
    jpeg: bytes,
    members: list[tuple[str, bytes] | tarfile.TarInfo],
    rejected: Mapping[str, str],
) -> None:
    write_tar(tmp_path / "x.tar", ("a.jpg", jpeg), *members)
    report = index(tmp_path, 1)
    assert report.samples == 1
    found = {name.removeprefix("x.tar: "): reason for name, reason in report.rejected}
    assert found.keys() == rejected.keys()
    for name, words in rejected.items():
        assert words in found[name]
    assert dict(Index(tmp_path / "x.safetensors").rejected) == found
    assert Manifest.load(tmp_path).rejected == len(rejected)


def test_a_sample_whose_only_file_is_too_large_is_named(tmp_path: Path, jpeg: bytes) -> None:
    write_tar(tmp_path / "x.tar", ("a.jpg", jpeg), ("b.jpg", jpeg + bytes(100)), ("c.jpg", jpeg))
    report = index(tmp_path, 1, limits=Limits(bytes=len(jpeg)))
    ((name, reason),) = report.rejected
    assert (name, report.samples) == ("x.tar: b.jpg", 2)
    assert reason.endswith("are the most (--max-bytes)")


def test_the_second_sample_of_one_key_is_named(tmp_path: Path, jpeg: bytes, png: bytes) -> None:
    pairs = [("a.jpg", jpeg), ("b.jpg", jpeg), ("a.jpg", png), ("a.txt", b"")]
    write_tar(tmp_path / "x.tar", *pairs)
    report = index(tmp_path, 1)
    assert report.rejected == [("x.tar: a.jpg", "a sample before it has the same key")]
    assert members_of(tmp_path) == {"a": {"jpg": jpeg}, "b": {"jpg": jpeg}}


@pytest.mark.parametrize(
    ("first", "second", "keys"),
    [
        (("x", "own"), ("x", "more"), {"x", "own", "b/x", "more"}),
        (("x", "b/x"), ("x",), {"x", "b/x", "b/b/x"}),
        (("x",), ("x", "b/x"), {"x", "b/x", "b/b/x"}),
        (("x", "b/x", "b/b/x"), ("x", "b/x"), {"x", "b/x", "b/b/x", "b/b/b/x", "b/b/b/b/x"}),
    ],
)
def test_keys_that_several_tars_have_are_made_unique_by_none_that_there_is(
    tmp_path: Path, jpeg: bytes, first: Sequence[str], second: Sequence[str], keys: set[str]
) -> None:
    for name, stems in (("a", first), ("b", second)):
        write_tar(tmp_path / f"{name}.tar", *((f"{stem}.jpg", jpeg) for stem in stems))
    report = index(tmp_path, 1)
    assert report.samples == len(keys)
    assert report.renamed == len({*first} & {*second})
    assert set(members_of(tmp_path)) == keys
    assert verify(tmp_path, 1).damages == []


def test_odd_names_become_keys_that_every_tool_can_read(tmp_path: Path, jpeg: bytes) -> None:
    tars = tmp_path / "tars"
    write_tar(tars / "x.tar", ("a b/c\td.jpg", jpeg), ("100%.jpg", jpeg))
    index(tars, 1)
    assert set(members_of(tars)) == {"a%20b/c%09d", "100%25"}
    extract(tars, tmp_path / "out", 1)
    assert (tmp_path / "out" / "a b" / "c\td.jpg").read_bytes() == jpeg


def header(name: str, size: int, kind: bytes = b"0") -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"text" * 200,
        header("b.jpg", 10**6) + bytes(512),
        header("b.jpg", 2**60) + bytes(1024),
        header("b.jpg", 0) + b"x" + header("c.jpg", 0)[1:],
        header("b.jpg", 0) + header("c.jpg", 0)[:300],
        header("long", 2**40, tarfile.GNUTYPE_LONGNAME) + bytes(1024),
        header("pax", 2**33, tarfile.XHDTYPE) + bytes(1024),
        header("pax", 512, tarfile.XHDTYPE) + b"999999999999 path=x\n".ljust(512, b"\0"),
        b"\x1f\x8b\x08" + bytes(600),
    ],
    ids=[
        *("empty", "text", "beyond the end", "2**60 bytes", "a damaged header", "half a header"),
        *("a huge name", "huge records", "a lying record", "gzip"),
    ],
)
def test_a_hostile_tar_is_refused(tmp_path: Path, jpeg: bytes, content: bytes) -> None:
    write_tar(tmp_path / "good.tar", ("a.jpg", jpeg))
    (tmp_path / "x.tar").write_bytes(content)
    with pytest.raises(UnusableInput, match=r"x\.tar is not a tar, or damaged"):
        index(tmp_path, 1)
    assert not (tmp_path / "dataset.json").exists()


def test_tars_joined_by_cat_are_refused_with_what_to_do(tmp_path: Path, jpeg: bytes) -> None:
    parts = [write_tar(tmp_path / name, (f"{name}.jpg", jpeg)) for name in ("a", "b")]
    (tmp_path / "c.tar").write_bytes(b"".join(part.read_bytes() for part in parts))
    for command in (("index", tmp_path), ("pack", tmp_path / "c.tar", tmp_path / "dst")):
        done = call_packer(*command, code=2)
        assert "c.tar continues at byte 10240, after its end of archive" in done.stderr
        assert "tar --ignore-zeros" in done.stderr
    assert not (tmp_path / "dataset.json").exists()
    assert not (tmp_path / "dst").exists()


def test_a_negative_size_is_refused(tmp_path: Path) -> None:
    block = bytearray(header("b.jpg", 0))
    block[124:136] = (-1024).to_bytes(12, "big", signed=True)  # base 256
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    (tmp_path / "x.tar").write_bytes(bytes(block) + bytes(1024))
    with pytest.raises(UnusableInput, match="not a tar, or damaged"):
        index(tmp_path, 1)


def test_kinds_of_members_without_end_are_refused_by_name(tmp_path: Path, jpeg: bytes) -> None:
    pairs = [(f"k{n}.ext{n}", b"") for n in range(100)]
    write_tar(tmp_path / "x.tar", *[("k0.jpg", jpeg), *pairs])
    report = index(tmp_path, 1)
    assert len(Index(tmp_path / "x.safetensors").members) <= 64
    assert len(report.rejected) == 99


def test_a_folder_without_tars_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar.gz").touch()
    done = call_packer("index", tmp_path, code=2)
    assert "has no .tar file" in done.stderr


def test_a_packed_dataset_is_not_indexed_over_also_where_it_lost_its_manifest(
    tmp_path: Path, packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(packed, tmp_path / "copy")
    with pytest.raises(UnusableInput, match="is already a dataset"):
        index(copy, 1)
    (copy / "dataset.json").unlink()
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    with pytest.raises(UnusableInput, match=r"pack the source again .* and --overwrite"):
        index(copy, 1)
    assert "packer index" not in call_packer("info", copy).stderr
    assert {path.name: path.read_bytes() for path in copy.iterdir()} == before
    for path in copy.glob("*.safetensors"):
        path.unlink()
    with monkeypatch.context() as interrupted:
        interrupted.delattr("packer.inspect.index.write_manifest")
        with pytest.raises(NameError):
            index(copy, 1)
    assert [*copy.rglob("*.safetensors")]
    done = call_packer("index", copy, "--jobs", 2)  # it goes on
    assert "39 samples in 3 classes, 4 tars" in done.stdout, done.stderr
    assert set(Dataset(copy).keys) == set(Dataset(packed).keys)
    assert not [path for path in copy.iterdir() if path.name.startswith(".")]


def test_somebody_else_s_file_is_not_overwritten(tmp_path: Path, jpeg: bytes) -> None:
    write_tar(tmp_path / "x.tar", ("a.jpg", jpeg))
    (tmp_path / "x.safetensors").write_bytes(b"weights")
    with pytest.raises(UnusableInput, match="is not an index"):
        index(tmp_path, 1)
    assert (tmp_path / "x.safetensors").read_bytes() == b"weights"


def test_indexing_again_clears_away_what_a_killed_run_left(tmp_path: Path, jpeg: bytes) -> None:
    write_tar(tmp_path / "x.tar", ("a.jpg", jpeg))
    index(tmp_path, 1)
    write_tar(tmp_path / "x.tar", ("a.jpg", jpeg), ("b.jpg", jpeg))
    assert verify(tmp_path, 1).damages != []
    left, mine = tmp_path / ".x.safetensors.tmp-123", tmp_path / ".b.safetensors.tmp-123"
    left.touch()
    mine.touch()
    assert index(tmp_path, 1).samples == 2
    assert (left.exists(), mine.exists()) == (False, True)
    assert verify(tmp_path, 1).damages == []


def test_a_flipped_bit_is_named_by_its_member(tmp_path: Path, jpeg: bytes) -> None:
    path = write_tar(tmp_path / "x.tar", ("a.jpg", jpeg), ("a.txt", b"text"), ("b.jpg", jpeg))
    index(tmp_path, 1)
    span = Index(tmp_path / "x.safetensors").span("txt", 0)
    assert span is not None
    flip(path, span[0], 2)
    damage = verify(tmp_path, 1).damages[0]
    assert (damage.key, damage.member, damage.start) == ("a", "txt", span[0])


@pytest.mark.parametrize("replaced", [True, False])
def test_a_tar_that_changes_while_it_is_read_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jpeg: bytes, replaced: bool
) -> None:
    path = write_tar(tmp_path / "a.tar", ("x.jpg", jpeg))
    finish = HashedFile.finish

    def change(file: HashedFile) -> None:
        if replaced:
            path.unlink()
        path.write_bytes(b"other")
        finish(file)

    monkeypatch.setattr(HashedFile, "finish", change)
    with pytest.raises(UnusableInput, match=r"a\.tar changed while it was read"):
        index(tmp_path, jobs=1)
    assert not (tmp_path / "dataset.json").exists()


def test_a_folder_that_cannot_be_listed_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, jpeg: bytes
) -> None:
    for split in ("train", "val"):
        write_tar(tmp_path / split / "a.tar", ("x.jpg", jpeg))
    scandir = os.scandir

    def fail(path: Path) -> object:
        if Path(path).name == "val":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", fail)
    with pytest.raises(PermissionError, match="val"):
        index(tmp_path, jobs=1)
    assert not (tmp_path / "dataset.json").exists()
