import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from called_packer import call_packer
from finished import info, repair
from packing import files_of, pack, pack_part, run_pack
from PIL import Image

import packer
from packer.inspect.info import Info
from packer.options.declared import PackOptions, SourceOptions
from packer.run.report import kept_rejections
from reader.format import Manifest

FIVE = PackOptions(shard_samples=5)


@pytest.fixture
def dirty(own_source: Path) -> Path:
    """A source with 2 files that the scan rejects, and 3 that only their pixels show."""
    for number in range(2):
        (own_source / "class0" / f"empty{number}.jpg").touch()
    for number in range(3):
        (own_source / "class1" / f"text{number}.jpg").write_text("text")
    return own_source


def names(found: Info) -> list[str]:
    return [name for name, _ in found.rejected_files]


def test_what_the_scan_and_pixels_reject_is_in_the_dataset(dirty: Path, dst: Path) -> None:
    report = run_pack(dirty, dst, skip_rejected=True)
    found = info(dst)
    assert found.rejected == Manifest.load(dst).rejected == 5
    assert found.rejected_files == report.rejected
    reasons = {"it is not an image of a known format": 3, "it is empty": 2}
    assert list(found.rejected_reasons.items()) == list(reasons.items())


def test_what_is_kept_has_a_limit_whatever_names_and_reasons_there_are() -> None:
    words = ("".join(chr(97 + int(digit)) for digit in str(number)) for number in range(1200))
    files = [("n" * 10_000 + word, f"reason {word} {'r' * 10_000}") for word in words]
    found = kept_rejections(files)
    assert len(found["files"]) == 1000
    assert max(len(text) for item in found["files"] for text in item) == 500
    assert len(found["reasons"]) == 101
    assert list(found["reasons"].items())[-1] == ("further reasons", 1100)


def test_it_is_the_same_for_any_jobs_parts_and_after_a_stop(dirty: Path, tmp_path: Path) -> None:
    pack(dirty, tmp_path / "1", FIVE, 1, skip_rejected=True)
    pack(dirty, tmp_path / "2", FIVE, 2, skip_rejected=True)
    for part in ("1/2", "2/2"):
        pack_part(dirty, tmp_path / "parts", FIVE, part, skip_rejected=True)
    pack(dirty, tmp_path / "parts", FIVE, 1, skip_rejected=True)
    with suppress(packer.Rejected):
        pack(dirty, tmp_path / "stopped", FIVE, 1)
    assert pack(dirty, tmp_path / "stopped", FIVE, 1, skip_rejected=True).shards_written == 0
    shutil.move(dirty, tmp_path / "elsewhere")
    pack(tmp_path / "elsewhere", tmp_path / "moved", FIVE, 1, skip_rejected=True)
    expected = files_of(tmp_path / "1")
    for name in ("2", "parts", "stopped", "moved"):
        assert files_of(tmp_path / name) == expected, name


def test_an_append_adds_what_it_rejects_and_counts_no_file_twice(dirty: Path, dst: Path) -> None:
    run_pack(dirty, dst, skip_rejected=True)
    shutil.copy(dirty / "class0" / "image000.jpg", dirty / "class0" / "new.jpg")
    (dirty / "class2" / "later.jpg").touch()
    (dirty / "class2" / "other.jpg").write_text("text")
    pack(dirty, dst, PackOptions(), 1, append=True, skip_rejected=True)
    found = info(dst)
    assert found.rejected == Manifest.load(dst).rejected == len(names(found)) == 7
    assert {"class2/later.jpg", "class2/other.jpg"} < set(names(found))
    (dirty / "class2" / "last.jpg").write_text("text")  # the only new file: it has no shard
    report = pack(dirty, dst, PackOptions(), 1, append=True, skip_rejected=True)
    assert report.shards_written == 0
    assert info(dst).rejected == 8
    assert "class2/last.jpg" in names(info(dst))
    assert "class0/empty0.jpg" in names(info(dst))


def test_items_of_datasets_and_loops_are_named_also_without_a_shard(tmp_path: Path) -> None:
    pixels = np.zeros((20, 20, 3), np.uint8)
    items = [{"image": pixels}, {"image": b"text"}, {"image": pixels}]
    packer.pack(items, tmp_path / "dataset", on_error="skip", jobs=1, progress=False)
    assert len(names(info(tmp_path / "dataset"))) == 1
    for is_first in (True, False):
        with packer.Writer(
            tmp_path / "loop", on_error="skip", append=not is_first, progress=False
        ) as writer:
            for item in items if is_first else items[1:2]:
                writer.write(item)
        assert writer.report is not None
        assert len(writer.report.rejected) == 1
    found = info(tmp_path / "loop")
    assert found.rejected == len(names(found)) == 2


def test_an_older_dataset_says_that_some_reasons_were_not_kept(dirty: Path, dst: Path) -> None:
    run_pack(dirty, dst, skip_rejected=True)
    older = replace(Manifest.load(dst), rejections={})
    assert "rejections" not in older.dump()
    (dst / "dataset.json").write_text(older.dump())
    found = info(dst)
    assert found.rejected == 5
    assert len(found.rejected_files) == 3
    assert found.rejected_reasons["the packer that rejected it kept no reason"] == 2
    assert repair(dst, dirty, 1).damages == []


def test_info_prints_each_reason_with_examples(dirty: Path, dst: Path) -> None:
    run_pack(dirty, dst, skip_rejected=True)
    printed = call_packer("info", dst).stdout  # type: ignore[attr-defined]
    empty = "class0/empty0.jpg, class0/empty1.jpg"
    assert f"\nrejected: 2 files: it is empty ({empty})\n" in printed


def test_an_append_drops_the_files_that_it_packs_after_a_repair(dirty: Path, dst: Path) -> None:
    run_pack(dirty, dst, skip_rejected=True)
    image = dirty / "class0" / "image000.jpg"
    for name in ("class0/empty0.jpg", "class1/text1.jpg"):  # by the scan, and in an index
        shutil.copy(image, dirty / name)
    pack(dirty, dst, PackOptions(), 1, append=True, skip_rejected=True)
    assert names(info(dst)) == ["class0/empty1.jpg", "class1/text0.jpg", "class1/text2.jpg"]
    assert info(dst).rejected == Manifest.load(dst).rejected == 3
    for name in ("class0/empty1.jpg", "class1/text0.jpg", "class1/text2.jpg"):
        shutil.copy(image, dirty / name)
    pack(dirty, dst, PackOptions(), 1, append=True)
    assert pack(dirty, dst, PackOptions(), 1, append=True).rejected == []
    assert info(dst).rejected == Manifest.load(dst).rejected == 0
    assert dict(info(dst).rejected_reasons) == {}
    assert repair(dst, dirty, 1).damages == []


def test_an_append_drops_rows_and_members_that_it_packs(own_source: Path, tmp_path: Path) -> None:
    folder, masks = own_source / "class0", tmp_path / "masks"
    masks.mkdir()
    images = sorted(path.name for path in folder.iterdir())
    for name in images:
        with Image.open(folder / name) as image:
            Image.new("L", image.size).save(masks / f"{Path(name).stem}.png")
    repaired = {images[1]: (folder / images[1]).read_bytes()}
    repaired["later.jpg"] = (folder / images[0]).read_bytes()
    (folder / images[1]).write_text("text")
    listed = tmp_path / "images.csv"
    listed.write_text("image\n" + "".join(f"{name}\n" for name in [*images, "later.jpg"]))
    rows = PackOptions(source=SourceOptions(root=str(folder)))
    paired = PackOptions(source=SourceOptions(pairs={"mask": os.path.relpath(masks, folder)}))
    pack(listed, tmp_path / "rows", rows, 1, skip_rejected=True)
    pack(folder, tmp_path / "paired", paired, 1, skip_rejected=True)
    assert info(tmp_path / "rows").rejected == info(tmp_path / "paired").rejected == 2
    for name, content in repaired.items():
        (folder / name).write_bytes(content)
    shutil.copy(masks / f"{Path(images[0]).stem}.png", masks / "later.png")
    pack(listed, tmp_path / "rows", rows, 1, append=True)
    pack(folder, tmp_path / "paired", paired, 1, append=True)
    for name in ("rows", "paired"):
        assert names(info(tmp_path / name)) == [], name
        assert info(tmp_path / name).rejected == 0
