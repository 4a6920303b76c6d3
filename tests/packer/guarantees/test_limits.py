"""Limits of what is packed: settable, and named where they are met; names from strangers."""

import importlib
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from called_packer import call_packer
from finished import verify
from made_images import encode, make_image
from packing import run_pack

import packer
from packer.errors import BadImage, Rejected
from packer.images.probe import probe
from packer.inspect.index import index
from reader import Dataset
from reader.format import FormatError, Limits, Manifest

_DOCUMENT = Path(packer.__file__).parent.parent / "docs" / "limits.md"
_ROW = re.compile(r"^\| .*? \| ([\d,]+) [^|]*\| .*?`([\w.]+)` \|", re.MULTILINE)
_NASTY = "\x1b]0;owned\x07\x1b[2J"


@pytest.fixture
def jpeg() -> bytes:
    return encode(make_image(1, 30, 40), "JPEG")


def test_the_documented_limits_are_those_of_the_code() -> None:
    rows = _ROW.findall(_DOCUMENT.read_text("utf-8"))
    assert len(rows) > 15
    for number, path in rows:
        module, _, name = path.rpartition(".")
        try:
            value = getattr(importlib.import_module(module), name)
        except ImportError:  # an attribute of a class
            module, _, holder = module.rpartition(".")
            value = getattr(getattr(importlib.import_module(module), holder), name)
        assert value == int(number.replace(",", "")), path


def test_the_printed_limit_packs_all_images_also_behind_a_run_that_has_begun(
    tmp_path: Path, jpeg: bytes
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.jpg").write_bytes(jpeg)
    (tmp_path / "src/b.jpg").write_bytes(encode(make_image(2, 8, 8), "JPEG"))
    refused = call_packer("pack", tmp_path / "src", tmp_path / "o", "--max-pixels", 1199, code=2)
    line = re.search(r"To pack them, type: packer (.*)", refused.stderr)
    assert line is not None
    call_packer(*shlex.split(line[1]), code=0)
    assert len(Dataset(tmp_path / "o")) == 2


def test_an_image_of_too_many_pixels_is_rejected_by_option(tmp_path: Path, jpeg: bytes) -> None:
    src = tmp_path / "src"
    src.mkdir()
    (src / "a.jpg").write_bytes(jpeg)
    done = call_packer("pack", src, tmp_path / "dst", "--max-pixels", 1199, code=2)
    reason = "it has 40 x 30 pixels; 1199 are the most (to allow more, pass a larger --max-pixels)"
    assert f"rejected: a.jpg: {reason}" in done.stderr
    call_packer("pack", src, tmp_path / "other", "--max-pixels", 1200, code=0)
    at = jpeg.index(b"\xff\xc0") + 5
    bomb = jpeg[:at] + 2 * (23_000).to_bytes(2, "big") + jpeg[at + 4 :]  # more than a worker holds
    (src / "bomb.jpg").write_bytes(bomb)
    with pytest.raises(Rejected) as caught:
        run_pack(src, tmp_path / "bomb")
    assert "it has 23000 x 23000 pixels" in caught.value.files[0][1]


def test_what_becomes_too_large_is_rejected_with_its_members(tmp_path: Path, jpeg: bytes) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.jpg").write_bytes(jpeg)
    (folder / "b.txt").write_bytes(bytes(len(jpeg)))
    limits = Limits(bytes=2 * len(jpeg) - 1)
    report = run_pack(folder, tmp_path / "dst", skip_rejected=True, limits=limits)
    assert report.samples == 1
    (image, reason), (member, other) = report.rejected
    assert (image, member) == ("b.jpg", "b.txt")
    assert f"{2 * len(jpeg)} bytes; {limits.bytes} are the most (--max-bytes)" in reason
    assert "b.jpg" in other
    with pytest.raises(Rejected) as caught:
        run_pack(folder, tmp_path / "raw", raw=(100, 100), limits=Limits(bytes=29_999))
    assert "it takes 30000 bytes; 29999 are the most" in caught.value.files[0][1]


def test_a_dataset_of_the_former_default_of_pixels_grows(tmp_path: Path, jpeg: bytes) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.jpg").write_bytes(jpeg)
    run_pack(tmp_path / "src", tmp_path / "dst", limits=Limits(pixels=1 << 29))
    assert run_pack(tmp_path / "src", tmp_path / "dst").shards_written == 0
    (tmp_path / "src" / "b.jpg").write_bytes(jpeg)
    call_packer("pack", tmp_path / "src", tmp_path / "dst", "--append", code=0)


def test_indexing_and_verifying_have_the_same_limits(tmp_path: Path, packed: Path) -> None:
    for path in packed.glob("*.tar"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    few = Limits(pixels=64 * 60)
    report = index(tmp_path, 1, limits=few)
    large = [name for name, reason in report.rejected if "pixels; 3840 are the most" in reason]
    assert 0 < len(large) < len(Dataset(packed))
    with pytest.raises(Exception, match="no tar has a sample with an image"):
        index(tmp_path, 1, limits=Limits(bytes=2))
    index(tmp_path, 1)
    for decode in (False, True):
        damages = verify(tmp_path, 1, decode=decode, limits=few).damages
        assert len(damages) == len(large)
        assert all("3840 are decoded (--max-pixels)" in str(damage) for damage in damages)
    damages = verify(tmp_path, 1, limits=Limits(bytes=2)).damages
    assert len(damages) == len(Dataset(tmp_path))
    assert "2 are looked at (--max-bytes)" in str(damages[0])


def test_a_jpeg_of_12_bits_is_told_from_what_is_no_image(jpeg: bytes) -> None:
    at = jpeg.index(b"\xff\xc0") + 4
    with pytest.raises(BadImage, match="JPEG of 12 bits"):
        probe(jpeg[:at] + b"\x0c" + jpeg[at + 1 :])


def test_counts_that_do_not_fit_their_file_are_refused(packed: Path, tmp_path: Path) -> None:
    content = Manifest.load(packed)
    for changes in ({"samples": 10**9}, {"bytes": 2**70, "samples": 0}):
        shards = (replace(content.shards[0], **changes), *content.shards[1:])
        (tmp_path / "dataset.json").write_text(replace(content, shards=shards).dump())
        with pytest.raises(FormatError, match="cannot hold"):
            Dataset(tmp_path)


def test_no_control_characters_of_names_reach_a_terminal(tmp_path: Path, jpeg: bytes) -> None:
    folder = tmp_path / "src" / f"class{_NASTY}"
    folder.mkdir(parents=True)
    (folder / f"text{_NASTY}\nrejected: other.jpg: forged.jpg").write_text("no image")
    (folder / f"good{_NASTY}\u202egpj.jpg").write_bytes(jpeg)
    dst = tmp_path / "dst"
    runs = [
        call_packer("pack", tmp_path / "src", dst, "--as", "folder", "--dry-run"),
        call_packer("pack", tmp_path / "src", dst, "--as", "folder", "--on-error", "skip"),
        call_packer("info", dst),
        call_packer("extract", dst, tmp_path / "out"),
    ]
    (tmp_path / "out" / folder.name / f"good{_NASTY}\u202egpj.jpg").write_text("other")
    shard = dst / "shard-000000.tar"
    shard.write_bytes(shard.read_bytes()[:700] + b"damage" + shard.read_bytes()[706:])
    runs += [call_packer("extract", dst, tmp_path / "out"), call_packer("verify", dst)]
    runs.append(call_packer("repair", dst, "--from", tmp_path / "src"))
    assert [run.returncode for run in runs] == [0, 1, 0, 0, 1, 1, 0]
    for run in runs:
        shown = run.stdout + run.stderr
        assert not {c for c in shown if not c.isprintable()} - {"\n"}, run.args
        assert "Traceback" not in shown
        assert not re.search("^rejected: other", shown, re.MULTILINE)
    assert r"\x1b]0;owned\x07" in runs[1].stderr


@pytest.mark.parametrize("file", ["a\\..\\b.tar", "x" * 300 + ".tar", "C:x.tar", "a\x1bb.tar"])
def test_a_shard_of_an_odd_name_is_in_the_folder(packed: Path, tmp_path: Path, file: str) -> None:
    content = Manifest.load(packed)
    (tmp_path / "dataset.json").write_text(
        replace(content, shards=(replace(content.shards[0], file=file),)).dump()
    )
    with pytest.raises(FormatError) as caught:
        Dataset(tmp_path)[0]
    assert str(tmp_path) in str(caught.value)


def test_a_shard_may_be_a_link_into_another_folder(packed: Path, tmp_path: Path) -> None:
    for path in packed.iterdir():
        (tmp_path / path.name).symlink_to(path)
    assert len(Dataset(tmp_path)[0][0].shape) == 3
