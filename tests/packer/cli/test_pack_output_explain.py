"""`packer pack --explain`."""

import json
from pathlib import Path

import pytest
from called_packer import call_packer
from layouts.archives import image
from layouts.scanned import ROWS
from made_images import write_files
from PIL import Image

from packer.cli.main import main


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """Oxford-IIIT Pet in miniature, with a file that belongs to nothing."""
    row = next(row for row in ROWS if row.name == "Oxford-IIIT Pet")
    files: dict[str, bytes | str] = dict.fromkeys(row.files.split(), "{}")
    for number, name in enumerate(files):
        if name.endswith((".jpg", ".png")):
            files[name] = image(number, "PNG" if name.endswith("png") else "JPEG")
    return write_files(tmp_path / "pets", files | dict(row.contents))


def test_a_source_is_explained_by_its_samples_and_nothing_is_written(pets: Path) -> None:
    before = sorted(pets.parent.rglob("*"))
    done = call_packer("pack", "--explain", pets, "--quiet", code=0)
    assert done.stdout.startswith("Read as Oxford-IIIT Pet with its official lists: 2 images")
    assert "Abyssinian_1.jpg: class Abyssinian, split trainval, JPEG of 16 x 12" in done.stdout
    assert "  mask.png: PNG of 16 x 12, RGB, 8 bits a value\n  xml: {}\n" in done.stdout
    told = json.loads(call_packer("pack", "--explain", pets, "--json", "--quiet").stdout)
    assert [sample["split"] for sample in told["samples"]] == ["trainval", "test"]
    ignored = {each["file"]: each["reason"] for each in told["ignored"]}
    assert ignored["images/Abyssinian_34.jpg"] == "it is not in the official lists"
    assert sorted(pets.parent.rglob("*")) == before


def test_a_sample_without_a_member_that_others_have_is_marked(tmp_path: Path) -> None:
    images = {f"a/{number}.jpg": image(number, "JPEG") for number in range(2)}
    write_files(tmp_path, images | {"a/1.json": "{}"})
    done = call_packer("pack", "--explain", tmp_path, "--as", "folder", "--quiet")
    assert done.stdout.splitlines()[1:] == [
        f"Equivalent command: packer pack {tmp_path} DST --images '{{label}}/{{key}}'",
        "a/0.jpg: class a, JPEG of 16 x 12",
        "  json: none",
        "a/1.jpg: class a, JPEG of 16 x 12",
        "  json: {}",
    ]
    told = json.loads(
        call_packer("pack", "--explain", tmp_path, "--as", "folder", "--json", "--quiet").stdout
    )
    assert [sample["members"] for sample in told["samples"]] == [{"json": None}, {"json": "{}"}]


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("1", "grey, 1 bit a value"),
        ("P", "palette, 8 bits a value"),
        ("RGB", "RGB, 8 bits a value"),
        ("I;16", "grey, 16 bits a value"),
    ],
)
def test_of_a_mask_is_told_what_its_pixels_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str, told: str
) -> None:
    Image.new("RGB", (16, 12)).save(tmp_path / "a.jpg")
    Image.new(mode, (16, 12)).save(tmp_path / "a.mask.png")
    main(["pack", "--explain", str(tmp_path), "--quiet"], standalone_mode=False)
    assert f"  mask.png: PNG of 16 x 12, {told}\n" in capsys.readouterr().out


def test_what_would_be_rejected_is_told_and_a_destination_is_needed_to_pack(pets: Path) -> None:
    (pets / "scores.mat").write_bytes(b"x")
    done = call_packer("pack", "--explain", pets, code=1)
    assert "scores.mat: it may have labels or images" in done.stderr
    done = call_packer("pack", pets, code=2)
    assert "Missing argument 'DST'" in done.stderr
