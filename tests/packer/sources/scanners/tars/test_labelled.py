"""Tables beside archives: they give labels, splits and JSON to the images that they name."""

import os
import re
import shlex
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from finished import repair

from reader.format import Manifest

MakeJpegs = Callable[..., dict[str, bytes]]
WriteTar = Callable[..., Path]
Run = Callable[..., Any]

NAMES = [f"{number:06d}" for number in range(12)]
ROWS = [f"{name}.jpg,{'cat' if int(name) % 3 else 'dog'},n{name}" for name in NAMES]
HEADER = "file,label,note"


@pytest.fixture
def tars(tmp_path: Path, make_jpegs: MakeJpegs, write_tar: WriteTar) -> Path:
    """A folder of two tars of images only."""
    folder = tmp_path / "tars"
    folder.mkdir()
    images = make_jpegs(*(f"{name}.jpg" for name in NAMES))
    for number in range(2):
        part = list(images.items())[6 * number : 6 * number + 6]
        write_tar(folder / f"shard-{number:06d}.tar", dict(part))
    return folder


def write_table(path: Path, rows: Sequence[str] = ROWS, header: str = HEADER) -> None:
    """Write a table."""
    path.write_text("\n".join([header, *rows, ""]))


def members(folder: Path) -> dict[str, bytes]:
    """All members of the tars of a dataset, by name."""
    found = {}
    for path in folder.rglob("*.tar"):
        with tarfile.open(path) as archive:
            for member in archive:
                content = archive.extractfile(member)
                assert content is not None
                found[member.name] = content.read()
    return found


def chosen(text: str, option: str) -> list[str]:
    """The arguments of the command in a message that has this option."""
    (command,) = re.findall(rf"packer (pack .* {re.escape(option)})$", text, re.MULTILINE)
    return shlex.split(command)


def test_rows_give_the_images_of_tars_their_label_and_json(tars: Path, run_packer: Run) -> None:
    write_table(tars / "labels.csv")
    done = run_packer("pack", tars, tars.parent / "dst")
    assert done.returncode == 0, done.stderr
    assert Manifest.load(tars.parent / "dst").classes == ("cat", "dog")
    found = members(tars.parent / "dst")
    assert {name: found[f"{name}.cls"] for name in NAMES} == {
        name: b"0" if int(name) % 3 else b"1" for name in NAMES
    }
    assert found["000003.json"] == b'{"note":"n000003"}'


def test_members_of_the_tars_stay_beside_what_a_table_adds(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: WriteTar, run_packer: Run
) -> None:
    files = {}
    for name, image in make_jpegs(*NAMES).items():
        files |= {f"{name}.jpg": image, f"{name}.txt": b"of " + name.encode()}
    (tmp_path / "tars").mkdir()
    write_tar(tmp_path / "tars" / "shard-000000.tar", files)
    write_table(tmp_path / "tars" / "labels.csv")
    assert run_packer("pack", tmp_path / "tars", tmp_path / "dst").returncode == 0
    found = members(tmp_path / "dst")
    assert found["000004.txt"] == b"of 000004"
    assert found["000004.json"] == b'{"note":"n000004"}'


def test_parts_of_labelled_tars_are_the_whole_and_are_repaired(tars: Path, run_packer: Run) -> None:
    write_table(tars / "labels.csv")
    whole, dst = tars.parent / "whole", tars.parent / "dst"
    options = ("--shard-samples", 4)
    assert run_packer("pack", tars, whole, *options).returncode == 0
    for part in ((*options, "--part", "1/2"), (*options, "--part", "2/2"), options):
        assert run_packer("pack", tars, dst, *part).returncode == 0
    assert members(dst) == members(whole)
    path = dst / "shard-000001.tar"
    data = path.read_bytes()
    path.write_bytes(data[:600] + bytes([data[600] ^ 1]) + data[601:])
    report = repair(dst, tars, 1)
    assert report.failed == []
    assert path.read_bytes() == data


def test_more_labelled_tars_are_appended(
    tars: Path, make_jpegs: MakeJpegs, write_tar: WriteTar, run_packer: Run
) -> None:
    write_table(tars / "labels.csv")
    dst = tars.parent / "dst"
    assert run_packer("pack", tars, dst).returncode == 0
    write_tar(tars / "shard-000002.tar", make_jpegs("new.jpg"))
    write_table(tars / "labels.csv", [*ROWS, "new.jpg,eel,x"])
    done = run_packer("pack", tars, dst, "--append")
    assert done.returncode == 0, done.stderr
    assert Manifest.load(dst).classes == ("cat", "dog", "eel")
    found = members(dst)
    assert (len([name for name in found if name.endswith(".jpg")]), found["new.cls"]) == (13, b"2")


def test_a_table_that_changed_is_noticed_even_if_it_is_as_long_and_as_old(
    tars: Path, run_packer: Run
) -> None:
    table, dst = tars / "labels.csv", tars.parent / "dst"
    write_table(table)
    before = table.stat()
    assert run_packer("pack", tars, dst).returncode == 0
    again = run_packer("pack", tars, dst)
    assert again.returncode == 0, again.stderr
    write_table(table, [row.replace("n000003", "n000009") for row in ROWS])
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    done = run_packer("pack", tars, dst)
    assert done.returncode == 2
    assert "--overwrite" in done.stderr


def test_images_without_a_row_and_rows_without_an_image_are_named(
    tars: Path, run_packer: Run
) -> None:
    write_table(tars / "labels.csv", [*ROWS[1:], "gone.jpg,cat,x"])
    done = run_packer("pack", tars, tars.parent / "dst", "--on-error", "skip")
    assert done.returncode == 1, done.stderr
    assert "labels.csv:13: 'gone.jpg': no image has that name" in done.stderr
    assert "shard-000000.tar/000000.jpg: no table names it" in done.stderr
    assert sum(name.endswith(".jpg") for name in members(tars.parent / "dst")) == 11


@pytest.mark.parametrize("own", ["cls", "json"])
def test_a_table_that_contradicts_the_tars_is_refused_and_the_command_ignores_it(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: WriteTar, run_packer: Run, own: str
) -> None:
    files = {}
    for name, image in make_jpegs(*NAMES).items():
        files |= {f"{name}.jpg": image, f"{name}.{own}": b"1"}
    (tmp_path / "tars").mkdir()
    write_tar(tmp_path / "tars" / "shard-000000.tar", files)
    write_table(tmp_path / "tars" / "labels.csv")
    done = run_packer("pack", tmp_path / "tars", tmp_path / "dst")
    assert done.returncode == 2
    done = run_packer(*chosen(done.stderr, "--ignore labels.csv"))
    assert done.returncode == 0, done.stderr
    assert members(tmp_path / "dst")[f"000000.{own}"] == b"1"


def test_a_name_in_two_tars_has_to_be_a_whole_path(
    tmp_path: Path, make_jpegs: MakeJpegs, write_tar: WriteTar, run_packer: Run
) -> None:
    folder, dst = tmp_path / "tars", tmp_path / "dst"
    folder.mkdir()
    shards = [f"shard-00000{number}.tar" for number in range(2)]
    for shard in shards:
        write_tar(folder / shard, make_jpegs(*(f"{name}.jpg" for name in NAMES)))
    write_table(folder / "labels.csv")
    done = run_packer("pack", folder, dst)
    assert done.returncode == 2
    assert "may be shard-000000.tar/000000.jpg or shard-000001.tar/000000.jpg" in done.stderr
    assert run_packer(*chosen(done.stderr, "--ignore labels.csv")).returncode == 0
    write_table(folder / "labels.csv", [f"{shard}/{row}" for shard in shards for row in ROWS])
    done = run_packer("pack", folder, dst, "--overwrite")
    assert done.returncode == 0, done.stderr
    assert members(dst)["shard-000001/000003.json"] == b'{"note":"n000003"}'


def test_of_two_tables_of_the_same_images_one_is_chosen(tars: Path, run_packer: Run) -> None:
    write_table(tars / "labels.csv")
    write_table(tars / "more.csv", header="file,text,note")
    done = run_packer("pack", tars, tars.parent / "dst")
    assert done.returncode == 2
    assert run_packer(*chosen(done.stderr, "--ignore more.csv")).returncode == 0
    assert Manifest.load(tars.parent / "dst").classes == ("cat", "dog")


def test_the_column_of_labels_is_chosen_as_for_folders(tars: Path, run_packer: Run) -> None:
    write_table(tars / "labels.csv", header="file,species,note")
    done = run_packer("pack", tars, tars.parent / "dst", "--label-column", "species")
    assert done.returncode == 0, done.stderr
    assert Manifest.load(tars.parent / "dst").classes == ("cat", "dog")


@pytest.fixture
def zips(tmp_path: Path, make_jpegs: MakeJpegs) -> Path:
    """A folder of a zip of images for each split."""
    folder = tmp_path / "zips"
    folder.mkdir()
    images = make_jpegs(*(f"{name}.jpg" for name in NAMES))
    for split, names in {"train": NAMES[:6], "val": NAMES[6:]}.items():
        with zipfile.ZipFile(folder / f"{split}.zip", "w") as archive:
            for name in names:
                archive.writestr(f"{name}.jpg", images[f"{name}.jpg"])
    return folder


def test_tables_beside_archives_by_split_label_them(zips: Path, run_packer: Run) -> None:
    write_table(zips / "train.csv", ROWS[:6])
    write_table(zips / "val.csv", ROWS[6:])
    done = run_packer("pack", zips, zips.parent / "dst")
    assert done.returncode == 0, done.stderr
    manifest = Manifest.load(zips.parent / "dst")
    assert (set(manifest.splits), manifest.classes) == ({"train", "val"}, ("cat", "dog"))
    assert members(zips.parent / "dst")["val/000007.json"] == b'{"note":"n000007"}'


def test_texts_beside_archives_by_split_are_refused_and_the_command_ignores_them(
    zips: Path, run_packer: Run
) -> None:
    (zips / "train.txt").write_text("\n".join(row.replace(",", " ") for row in ROWS[:6]))
    done = run_packer("pack", zips, zips.parent / "dst")
    assert done.returncode == 2
    done = run_packer(*chosen(done.stderr, "--ignore train.txt"))
    assert done.returncode == 0, done.stderr
