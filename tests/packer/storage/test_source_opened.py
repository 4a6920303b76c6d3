"""One door: whatever reads a source reads the same, however it lies there."""

import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from called_packer import call_packer
from packing import files_of
from sampled import sampled

import packer
from packer.progress import Progress
from packer.storage.source import LocalSource, open_source

COMMANDS = ["pack", "--dry-run", "--explain", "--part", "repair"]


def as_tar(source: Path, folder: Path, ending: str) -> Path:
    with tarfile.open(folder / f"images.tar.{ending}", f"w:{ending}") as archive:
        archive.add(source, "images")
    return folder / f"images.tar.{ending}"


def as_table(source: Path, folder: Path) -> Path:
    shutil.copytree(source, folder / "images")
    files = sorted((folder / "images").rglob("*.jpg"))
    rows = [f"{path.relative_to(folder)},{path.parent.name}" for path in files]
    (folder / "labels.csv").write_text("\n".join(["path,label", *rows]) + "\n")
    return folder / "labels.csv"


MAKE: dict[str, Callable[[Path, Path], Path | str]] = {
    "tar.gz": lambda source, folder: as_tar(source, folder, "gz"),
    "tar.xz": lambda source, folder: as_tar(source, folder, "xz"),
    "CSV": as_table,
    "zip": lambda source, folder: Path(
        shutil.make_archive(str(folder / "images"), "zip", source.parent, source.name)
    ),
    "URL of a tar.gz": lambda source, folder: f"file://{as_tar(source, folder, 'gz')}",
    "URL": lambda source, folder: f"file://{shutil.copytree(source, folder / 'raw')}",
}


@pytest.fixture(params=sampled(MAKE, every=3))
def src(request: pytest.FixtureRequest, tmp_path: Path, source: Path) -> Path | str:
    """A source of each form, with the same images in three classes."""
    folder = tmp_path / "made"
    folder.mkdir()
    return MAKE[request.param](source, folder)


@pytest.fixture
def reading_of(tmp_path: Path) -> Callable[..., str]:
    """`reading_of("--explain", src)`: what a command prints that it has read."""

    def run(command: str, src: Path | str, dst: Path) -> str:
        options = ("--scratch", tmp_path / "scratch") if isinstance(src, str) else ()
        if command == "repair":
            done = call_packer("repair", dst, "--from", src, *options, "--jobs", 1, code=0)
            return str(json.loads((dst / "dataset.json").read_text())["reading"])
        given = {"pack": (), "--part": ("--part", "1/2")}.get(command, (command,))
        done = call_packer(
            "pack", src, dst, *given, *options, "--jobs", 1, "--shard-samples", 10, code=0
        )
        [line] = [line for line in done.stdout.splitlines() if line.startswith("Read as ")]
        return str(line)

    return run


def test_every_command_prints_the_same_reading_and_leaves_nothing_behind(
    src: Path | str, tmp_path: Path, reading_of: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "system").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "system"))
    dst = tmp_path / "shards"
    said = {command: reading_of(command, src, dst) for command in COMMANDS[1:-1]}
    said["pack"] = reading_of("pack", src, dst)
    before = files_of(dst)
    for name in ("shard-000000.tar", "shard-000001.safetensors"):
        (dst / name).write_bytes(b"damaged")
    said["repair"] = reading_of("repair", src, dst)
    assert files_of(dst) == before
    assert len(set(said.values())) == 1, said
    assert "39 images; 3 classes" in said["pack"]
    assert not list((tmp_path / "system").iterdir())
    assert not (tmp_path / ".shards.unpacked").exists()
    assert not list((tmp_path / "scratch").glob("*"))


def test_a_run_that_is_refused_leaves_nothing_behind(tmp_path: Path, source: Path) -> None:
    images = tmp_path / "images"
    shutil.copytree(source, images)
    first = min(str(path.relative_to(images)) for path in images.rglob("*.jpg"))
    rows = [f"{path},a,1" for path in (first, *(f"gone{number}.jpg" for number in range(5)))]
    (tmp_path / "list.csv").write_text("\n".join(["image,label,number", *rows, ""]))
    with pytest.raises(packer.ShardfeedError):
        packer.pack(tmp_path / "list.csv", tmp_path / "shards", root=images, progress=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images", "list.csv"]


def test_a_commit_removes_only_what_was_made_for_it(tmp_path: Path, source: Path) -> None:
    own = tmp_path / ".shards.unpacked" / "notes.txt"
    own.parent.mkdir()
    own.write_text("mine")
    packer.pack(source, tmp_path / "shards", progress=False)
    assert own.read_text() == "mine"


def test_a_temporary_folder_is_there_only_when_something_lies_in_it(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with open_source(LocalSource.at(source), Progress(quiet=True)) as opened:
        made = opened.spool
        assert made.parent == tmp_path / "temporary"
        assert not made.exists()
    packed = LocalSource.at(as_tar(source, tmp_path, "gz"))
    with open_source(packed, Progress(quiet=True)) as opened:
        made = opened.spool
        assert [path.name for path in made.glob("[!.]*")] == ["images.tar"]
        assert made.stat().st_mode & 0o777 == 0o700
    assert not made.exists()
