"""Tables beside archives: they give labels, splits and JSON to the images that they name."""

import os
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from called_packer import call_packer
from finished import repair

from reader.format import Manifest

MakeJpegs = Callable[..., dict[str, bytes]]
WriteTar = Callable[..., Path]

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


def pack(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run the command line in this process."""
    return call_packer("pack", *arguments, "--jobs", 1)


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


def test_parts_of_labelled_tars_are_the_whole_and_are_repaired(tars: Path) -> None:
    write_table(tars / "labels.csv")
    whole, dst = tars.parent / "whole", tars.parent / "dst"
    options = ("--shard-samples", 4)
    assert pack(tars, whole, *options).returncode == 0
    for part in ((*options, "--part", "1/2"), (*options, "--part", "2/2"), options):
        assert pack(tars, dst, *part).returncode == 0
    assert members(dst) == members(whole)
    path = dst / "shard-000001.tar"
    data = path.read_bytes()
    path.write_bytes(data[:600] + bytes([data[600] ^ 1]) + data[601:])
    report = repair(dst, tars, 1)
    assert report.failed == []
    assert path.read_bytes() == data


def test_more_labelled_tars_are_appended(
    tars: Path, make_jpegs: MakeJpegs, write_tar: WriteTar
) -> None:
    write_table(tars / "labels.csv")
    dst = tars.parent / "dst"
    assert pack(tars, dst).returncode == 0
    write_tar(tars / "shard-000002.tar", make_jpegs("new.jpg"))
    write_table(tars / "labels.csv", [*ROWS, "new.jpg,eel,x"])
    done = pack(tars, dst, "--append")
    assert done.returncode == 0, done.stderr
    assert Manifest.load(dst).classes == ("cat", "dog", "eel")
    found = members(dst)
    assert (len([name for name in found if name.endswith(".jpg")]), found["new.cls"]) == (13, b"2")


def test_a_table_that_changed_is_noticed_even_if_it_is_as_long_and_as_old(tars: Path) -> None:
    table, dst = tars / "labels.csv", tars.parent / "dst"
    write_table(table)
    before = table.stat()
    assert pack(tars, dst).returncode == 0
    again = pack(tars, dst)
    assert again.returncode == 0, again.stderr
    write_table(table, [row.replace("n000003", "n000009") for row in ROWS])
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    done = pack(tars, dst)
    assert done.returncode == 2
    assert "--overwrite" in done.stderr
