"""Each odd member of docs/odd-images.md: made here, then packed, verified and read."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from finished import verify
from made_images import encode, make_image, npy, turned
from odd_images.tried import table_of
from packing import run_pack
from png_chunks import with_damaged_data

from packer.images.encode import Policy
from packer.images.encode import encode as encoded
from packer.images.members import EncodedMember
from packer.run.pack import PackReport
from packer.samples.records import Sample
from packer.shards.shard_writer import ShardWriter, entry_of, index_of
from reader import Dataset, Loader
from reader.format import Index, Manifest

Members = Mapping[str, tuple[bytes, str, bytes]]


UPRIGHT = encode(make_image(1, 60, 80), "JPEG")  # of 80 x 60 pixels


def odd_members() -> dict[str, tuple[bytes, str, bytes]]:
    """Return, by the name in the table, an image, an extension, and the bytes of the member."""
    lying = encode(make_image(1, 60, 80), "JPEG", exif=turned(6))  # 60 x 80 as it is seen
    mask = encode(make_image(2, 60, 80).convert("L"), "PNG")
    smaller = encode(make_image(2, 30, 40).convert("L"), "PNG")
    tall = encode(make_image(2, 80, 60).convert("L"), "PNG")
    photo = encode(make_image(3, 60, 80), "JPEG")
    tiff = encode(make_image(3, 60, 80), "TIFF")
    array = npy(np.arange(100))
    return {
        "json": (UPRIGHT, "json", b'{"a": [1, 2]}'),
        "json, cut short": (UPRIGHT, "json", b'{"a": [1, 2'),
        "json, empty": (UPRIGHT, "json", b""),
        "json, nested 100,000 deep": (UPRIGHT, "json", b"[" * 100_000 + b"]" * 100_000),
        "txt": (UPRIGHT, "txt", "ä".encode()),
        "txt, empty": (UPRIGHT, "txt", b""),
        "txt in Latin-1": (UPRIGHT, "txt", "ä".encode("latin-1")),
        "npy": (UPRIGHT, "npy", array),
        "npy, garbage": (UPRIGHT, "npy", b"garbage"),
        "npy, cut short": (UPRIGHT, "npy", array[:-8]),
        "npy of a pickle": (UPRIGHT, "npy", npy(np.array([{}], object))),
        "vector.npy, cut short": (UPRIGHT, "vector.npy", array[:-8]),
        "xml, cut short": (UPRIGHT, "xml", b"<a>"),
        "mask.png": (UPRIGHT, "mask.png", mask),
        "mask.png, empty": (UPRIGHT, "mask.png", b""),
        "mask.png, cut short": (UPRIGHT, "mask.png", mask[: len(mask) * 2 // 3]),
        "mask.png, damaged data under right checksums": (
            UPRIGHT,
            "mask.png",
            with_damaged_data(mask),
        ),
        "mask.png, a JPEG": (UPRIGHT, "mask.png", photo),
        "mask.png, smaller than its image": (UPRIGHT, "mask.png", smaller),
        "mask.png over an image of orientation 6, as that is stored": (lying, "mask.png", mask),
        "mask.png over an image of orientation 6, upright": (lying, "mask.png", tall),
        "mask.tif, cut short": (UPRIGHT, "mask.tif", tiff[: len(tiff) // 2]),
        "depth.jpeg": (UPRIGHT, "depth.jpeg", photo),
        "depth.jpeg, cut short": (UPRIGHT, "depth.jpeg", photo[: len(photo) // 2]),
    }


@pytest.fixture(scope="module")
def members() -> Members:
    return odd_members()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, members: Members) -> PackReport:
    """Of packing a folder of all of them, each beside its image."""
    root = tmp_path_factory.mktemp("members")
    (root / "files").mkdir()
    for number, (image, ext, data) in enumerate(members.values()):
        (root / "files" / f"{number:03d}.jpg").write_bytes(image)
        (root / "files" / f"{number:03d}.{ext}").write_bytes(data)
    return run_pack(root / "files", root / "shards", seed=None, skip_rejected=True)


def test_the_table_tells_what_happens(report: PackReport, members: Members) -> None:
    kept = {int(key) for key in Dataset(report.dataset).keys}
    outcomes = {
        name: "kept" if number in kept else "rejected" for number, name in enumerate(members)
    }
    assert outcomes == table_of("Members")


def test_both_files_of_what_is_rejected_are_named(report: PackReport, members: Members) -> None:
    kept = {int(key) for key in Dataset(report.dataset).keys}
    reasons = dict(report.rejected)
    for number, (_, ext, _) in enumerate(members.values()):
        image = f"{number:03d}.jpg"
        if number not in kept:
            assert reasons.pop(image).startswith(f"its .{ext} ")
            told = reasons.pop(f"{number:03d}.{ext}")
            assert told == f"it belongs to {image}, which is rejected"
    assert not reasons


def test_what_is_packed_is_sound_and_is_read(report: PackReport, members: Members) -> None:
    assert verify(Path(report.dataset), 1, decode=True).damages == []
    extensions = sorted(
        {ext for _, ext, _ in members.values()} & {*Dataset(report.dataset).extensions}
    )
    fields = ("key", *(f"{ext}?" for ext in extensions))
    read = 0
    with Loader(report.dataset, batch_size=4, workers=0, fields=fields) as loader:
        for batch in loader:
            for key, *values in zip(*batch, strict=True):
                found = {e for e, v in zip(extensions, values, strict=True) if v is not None}
                assert found == {list(members.values())[int(key)][1]}
                read += 1
    assert read == report.samples


def test_verify_names_what_packing_would_have_rejected(tmp_path: Path, members: Members) -> None:
    policy = Policy(tiled=False)
    with ShardWriter(tmp_path / "shard-000000.tar") as writer:
        for number, (image, ext, data) in enumerate(members.values()):
            sample = Sample(f"{number}.jpg", str(number), -1, 0, 0, (ext,))
            writer.add(sample, encoded(image, policy), {ext: EncodedMember(data)})
        writer.finish([])
    entry = entry_of(Index(index_of(tmp_path / "shard-000000.tar")))
    fields = tuple(sorted({"jpg", *(ext for _, ext, _ in members.values())}))
    content = Manifest("0", {}, "", (), fields, (entry,))
    (tmp_path / "dataset.json").write_bytes(content.dump().encode())
    names = list(members)
    rejected = {name for name, outcome in table_of("Members").items() if outcome == "rejected"}
    rejected.add("mask.png over an image of orientation 6, upright")  # packing turns it
    damages = verify(tmp_path, 1, decode=True).damages
    assert {names[int(damage.key or -1)] for damage in damages} == rejected
    assert {damage.member for damage in damages} == {members[name][1] for name in rejected}
    assert verify(tmp_path, 1).damages == []
