import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.writing.journal import (
    commit,
    packing,
)
from reader.format import Manifest

IDENTITY = {"seed": 0, "state": "of the source"}
OTHER = {"seed": 1, "state": "of the source"}
MANIFEST = Manifest("1", {}, "source", ("cat",), ("cls", "jpg"), ())


def interrupt(folder: Path) -> None:
    """A run that writes one shard and is interrupted."""
    with suppress(KeyboardInterrupt), packing(folder, IDENTITY, overwrite=False):
        (folder / "shard-000000.tar").write_bytes(b"tar")
        (folder / "shard-000000.safetensors").write_bytes(b"index")
        raise KeyboardInterrupt


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_commit_leaves_the_data_set_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    with packing(folder, IDENTITY, overwrite=False):
        commit(folder, MANIFEST)
    assert names(folder) == {"dataset.json"}
    assert Manifest.load(folder) == MANIFEST


def test_the_same_run_continues_an_interrupted_one(tmp_path: Path) -> None:
    interrupt(tmp_path)
    with packing(tmp_path, IDENTITY, overwrite=False):
        assert (tmp_path / "shard-000000.tar").read_bytes() == b"tar"
        commit(tmp_path, MANIFEST)
    assert names(tmp_path) == {"dataset.json", "shard-000000.tar", "shard-000000.safetensors"}


def test_it_may_be_interrupted_again_and_again(tmp_path: Path) -> None:
    for _ in range(3):
        interrupt(tmp_path)
    with packing(tmp_path, IDENTITY, overwrite=False):
        assert (tmp_path / "shard-000000.tar").exists()


def test_another_run_does_not_continue_an_interrupted_one(tmp_path: Path) -> None:
    interrupt(tmp_path)
    before = names(tmp_path)
    with (
        pytest.raises(UnusableInput, match="unfinished run"),
        packing(tmp_path, OTHER, overwrite=False),
    ):
        pytest.fail("it was let in")
    assert names(tmp_path) == before
    with packing(tmp_path, IDENTITY, overwrite=False):
        assert (tmp_path / "shard-000000.tar").exists()


def test_overwriting_discards_an_interrupted_run_of_other_options(tmp_path: Path) -> None:
    interrupt(tmp_path)
    with packing(tmp_path, OTHER, overwrite=True):
        assert not (tmp_path / "shard-000000.tar").exists()
        assert not (tmp_path / "shard-000000.safetensors").exists()


def test_overwriting_continues_its_own_interrupted_run(tmp_path: Path) -> None:
    interrupt(tmp_path)
    with packing(tmp_path, IDENTITY, overwrite=True):
        assert (tmp_path / "shard-000000.tar").exists()


def test_overwriting_removes_the_data_set_and_no_foreign_file(tmp_path: Path) -> None:
    foreign = {"notes.txt", "images.tar", "shard-notes.tar", "shards", "shard-000000.txt"}
    for name in foreign | {"dataset.json", "shard-000000.tar", "shard-000000.safetensors"}:
        (tmp_path / name).write_text(name)
    with packing(tmp_path, IDENTITY, overwrite=True):
        left = names(tmp_path)
    assert left - {".packing.json"} == foreign


@pytest.mark.parametrize("name", ["dataset.json", "shard-000000.tar", "shard-000003.safetensors"])
def test_what_another_command_wrote_is_not_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("theirs")
    with (
        pytest.raises(UnusableInput, match=name),
        packing(tmp_path, IDENTITY, overwrite=False),
    ):
        pytest.fail("it was let in")
    assert names(tmp_path) == {name}
    assert (tmp_path / name).read_text() == "theirs"


@pytest.mark.parametrize("overwrite", [False, True])
def test_two_runs_cannot_hold_one_destination(tmp_path: Path, overwrite: bool) -> None:
    with packing(tmp_path, IDENTITY, overwrite=False):
        (tmp_path / "shard-000000.tar").write_bytes(b"tar")
        with (
            pytest.raises(UnusableInput, match="another packer is at work"),
            packing(tmp_path, IDENTITY, overwrite),
        ):
            pytest.fail("it was let in")
        assert (tmp_path / "shard-000000.tar").exists()
        commit(tmp_path, MANIFEST)


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    interrupt(tmp_path)
    half_written = tmp_path / ".shard-000001.tar.tmp-12345"
    half_written.write_bytes(b"half")
    with packing(tmp_path, IDENTITY, overwrite=False):
        assert not half_written.exists()


def test_a_run_killed_before_it_wrote_anything_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".packing.json").touch()
    with packing(tmp_path, IDENTITY, overwrite=False):
        commit(tmp_path, MANIFEST)
    assert names(tmp_path) == {"dataset.json"}


def test_what_was_left_of_a_manifest_is_removed_and_nothing_of_the_user_s(tmp_path: Path) -> None:
    mine = [tmp_path / name for name in (".notes.tmp-1", ".dataset.json.tmp", "dataset.json.tmp-1")]
    for path in (*mine, tmp_path / ".dataset.json.tmp-12345"):
        path.touch()
    with packing(tmp_path, IDENTITY, overwrite=False):
        assert names(tmp_path) == {path.name for path in mine} | {".packing.json"}


def test_a_file_system_that_cannot_lock_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with (
        pytest.raises(UnusableInput, match="cannot be locked: No locks available"),
        packing(tmp_path, IDENTITY, overwrite=False),
    ):
        pytest.fail("it was let in")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("splits", ['[".."]', '["OUT"]', "5", "[[]]", '["\\u0000"]', "[" * 10**5])
def test_a_journal_that_names_splits_elsewhere_is_none(
    tmp_path: Path, splits: str, overwrite: bool
) -> None:
    (tmp_path / "shard-000000.tar").touch()
    (tmp_path / "dst").mkdir()
    splits = splits.replace("OUT", str(tmp_path))
    (tmp_path / "dst" / ".packing.json").write_text(f'{{"splits": {splits}}}')
    with packing(tmp_path / "dst", IDENTITY, overwrite):
        assert names(tmp_path) == {"dst", "shard-000000.tar"}
