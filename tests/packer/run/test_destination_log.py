import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.run.destination import Destination
from packer.run.run import Run
from packer.storage.folder import Folder
from reader.format import Manifest, ShardEntry

SHARDS = {f"shard-{number:06d}.tar": f"digest {number}" for number in range(3)}
RUN = Run({"seed": 0}, "source", "here", (), SHARDS)
OTHER = replace(RUN, settings={"seed": 1})
MENDED = replace(RUN, source="mended", shards=SHARDS | {"shard-000001.tar": "another digest"})
MANIFEST = Manifest("1", {}, "source", ("cat",), ("cls", "jpg"), ())


def interrupt(folder: Path) -> None:
    """A run that writes one shard and is interrupted."""
    with suppress(KeyboardInterrupt), Destination(folder).hold(RUN, overwrite=False):
        (folder / "shard-000000.tar").write_bytes(b"tar")
        (folder / "shard-000000.safetensors").write_bytes(b"index")
        raise KeyboardInterrupt


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_commit_leaves_the_dataset_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    with Destination(folder).hold(RUN, overwrite=False):
        Destination(folder).commit(MANIFEST)
    assert names(folder) == {"dataset.json"}
    assert Manifest.load(folder) == MANIFEST


def test_the_same_run_continues_an_interrupted_one(tmp_path: Path) -> None:
    interrupt(tmp_path)
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert (tmp_path / "shard-000000.tar").read_bytes() == b"tar"
        Destination(tmp_path).commit(MANIFEST)
    assert names(tmp_path) == {"dataset.json", "shard-000000.tar", "shard-000000.safetensors"}


def test_it_may_be_interrupted_again_and_again(tmp_path: Path) -> None:
    for _ in range(3):
        interrupt(tmp_path)
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert (tmp_path / "shard-000000.tar").exists()


def test_another_run_does_not_continue_an_interrupted_one(tmp_path: Path) -> None:
    interrupt(tmp_path)
    before = names(tmp_path)
    with (
        pytest.raises(UnusableInput, match="unfinished run"),
        Destination(tmp_path).hold(OTHER, overwrite=False),
    ):
        pytest.fail("it was let in")
    assert names(tmp_path) == before
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert (tmp_path / "shard-000000.tar").exists()


def test_overwriting_discards_an_interrupted_run_of_other_options(tmp_path: Path) -> None:
    interrupt(tmp_path)
    with Destination(tmp_path).hold(OTHER, overwrite=True):
        assert not (tmp_path / "shard-000000.tar").exists()
        assert not (tmp_path / "shard-000000.safetensors").exists()


def test_overwriting_continues_its_own_interrupted_run(tmp_path: Path) -> None:
    interrupt(tmp_path)
    with Destination(tmp_path).hold(RUN, overwrite=True):
        assert (tmp_path / "shard-000000.tar").exists()


def test_overwriting_removes_the_dataset_and_no_foreign_file(tmp_path: Path) -> None:
    foreign = {"notes.txt", "images.tar", "shard-notes.tar", "shards", "shard-000000.txt"}
    for name in foreign | {"dataset.json", "shard-000000.tar", "shard-000000.safetensors"}:
        (tmp_path / name).write_text(name)
    with Destination(tmp_path).hold(RUN, overwrite=True):
        left = names(tmp_path)
    assert left - {".packing.json"} == foreign


@pytest.mark.parametrize("name", ["dataset.json", "shard-000000.tar", "shard-000003.safetensors"])
def test_what_another_command_wrote_is_not_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("theirs")
    with (
        pytest.raises(UnusableInput, match=name),
        Destination(tmp_path).hold(RUN, overwrite=False),
    ):
        pytest.fail("it was let in")
    assert names(tmp_path) == {name}
    assert (tmp_path / name).read_text() == "theirs"


@pytest.mark.parametrize("overwrite", [False, True])
def test_two_runs_cannot_hold_one_destination(tmp_path: Path, overwrite: bool) -> None:
    with Destination(tmp_path).hold(RUN, overwrite=False):
        (tmp_path / "shard-000000.tar").write_bytes(b"tar")
        with (
            pytest.raises(UnusableInput, match="another packer is at work"),
            Destination(tmp_path).hold(RUN, overwrite),
        ):
            pytest.fail("it was let in")
        assert (tmp_path / "shard-000000.tar").exists()
        Destination(tmp_path).commit(MANIFEST)


def test_what_a_killed_run_left_half_written_is_removed(tmp_path: Path) -> None:
    interrupt(tmp_path)
    half_written = tmp_path / ".shard-000001.tar.tmp-12345"
    half_written.write_bytes(b"half")
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert not half_written.exists()


def test_a_run_killed_before_it_wrote_anything_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / ".packing.json").touch()
    with Destination(tmp_path).hold(RUN, overwrite=False):
        Destination(tmp_path).commit(MANIFEST)
    assert names(tmp_path) == {"dataset.json"}


def test_what_was_left_of_a_manifest_is_removed_and_nothing_of_the_user_s(tmp_path: Path) -> None:
    mine = [tmp_path / name for name in (".notes.tmp-1", ".dataset.json.tmp", "dataset.json.tmp-1")]
    for path in (*mine, tmp_path / ".dataset.json.tmp-12345"):
        path.touch()
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert names(tmp_path) == {path.name for path in mine} | {".packing.json"}


def test_a_file_system_that_cannot_lock_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with (
        pytest.raises(UnusableInput, match="cannot be locked: No locks available"),
        Destination(tmp_path).hold(RUN, overwrite=False),
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
    (tmp_path / "dst" / ".packing.json").write_text(f'{{"settings": {{}}, "splits": {splits}}}')
    with Destination(tmp_path / "dst").hold(RUN, overwrite):
        assert names(tmp_path) == {"dst", "shard-000000.tar"}


def finish(folder: Path, run: Run) -> None:
    """A run that finishes its shards and is stopped."""
    with suppress(KeyboardInterrupt), Destination(folder).hold(run, overwrite=False):
        for tar in run.shards:
            (folder / tar).write_bytes(b"tar")
            (folder / tar).with_suffix(".safetensors").write_bytes(b"index")
        raise KeyboardInterrupt


def tars(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.tar"))


def test_a_mended_source_costs_the_shards_alone_that_are_not_right_any_more(tmp_path: Path) -> None:
    finish(tmp_path, RUN)
    with Destination(tmp_path).hold(MENDED, overwrite=False):
        assert tars(tmp_path) == ["shard-000000.tar", "shard-000002.tar"]
        assert len(list(tmp_path.glob("*.safetensors"))) == 2


def test_a_shard_that_is_planned_no_more_is_removed(tmp_path: Path) -> None:
    finish(tmp_path, RUN)
    fewer = dict(list(SHARDS.items())[:2])
    with Destination(tmp_path).hold(replace(RUN, shards=fewer), overwrite=False):
        assert tars(tmp_path) == list(fewer)


def test_a_source_mended_again_and_again_keeps_what_is_right(tmp_path: Path) -> None:
    finish(tmp_path, RUN)
    finish(tmp_path, MENDED)
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert tars(tmp_path) == ["shard-000000.tar", "shard-000002.tar"]


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_kill_while_the_mended_run_is_noted_leaves_the_note_before(
    tmp_path: Path, cut: int
) -> None:
    finish(tmp_path, RUN)
    journal = tmp_path / ".packing.json"
    size = journal.stat().st_size
    with suppress(KeyboardInterrupt), Destination(tmp_path).hold(MENDED, overwrite=False):
        raise KeyboardInterrupt
    assert tars(tmp_path) == ["shard-000000.tar", "shard-000002.tar"]
    with journal.open("ab") as file:
        file.truncate(size + cut)
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert tars(tmp_path) == ["shard-000000.tar", "shard-000002.tar"]


def test_the_same_source_at_another_place_is_continued_and_another_one_is_not(
    tmp_path: Path,
) -> None:
    finish(tmp_path, RUN)
    with Destination(tmp_path).hold(replace(RUN, place="there"), overwrite=False):
        assert len(tars(tmp_path)) == 3
    with (
        pytest.raises(UnusableInput, match="of another source"),
        Destination(tmp_path).hold(replace(MENDED, place="there"), overwrite=False),
    ):
        pytest.fail("it was let in")
    assert len(tars(tmp_path)) == 3


def test_a_mended_run_touches_no_shard_that_it_did_not_write(tmp_path: Path) -> None:
    finish(tmp_path, RUN)
    (tmp_path / "shard-000007.tar").write_text("theirs")
    with (
        pytest.raises(UnusableInput, match=r"shard-000007\.tar"),
        Destination(tmp_path).hold(MENDED, overwrite=False),
    ):
        pytest.fail("it was let in")
    assert len(tars(tmp_path)) == 4


def replaced(folder: Path) -> set[str]:
    """Write a dataset of two splits, and a file of the user's; return the names of its files."""
    tars = ["train/shard-000000.tar", "train/shard-000001.tar", "val/shard-000000.tar"]
    entries = tuple(
        ShardEntry(tar, tar.partition("/")[0], 1, 10240, f"xxh3:{0:032x}", 9, f"xxh3:{0:032x}")
        for tar in tars
    )
    names = {name for entry in entries for name in (entry.file, entry.index)}
    for name in (*names, "train/notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / "dataset.json").write_text(replace(MANIFEST, shards=entries).dump())
    return names | {"dataset.json"}


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@contextmanager
def killed_at(step: int, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the removal of files end before the one with this number."""
    left, real = [step], Folder.remove

    def remove(folder: Folder, name: str) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        real(folder, name)

    patch.setattr(Folder, "remove", remove)
    yield


@pytest.mark.parametrize("run", [OTHER, replace(OTHER, shards={}, pushed=True)])
@pytest.mark.parametrize("step", range(7))
@pytest.mark.parametrize("again", ["the same command", "one without --overwrite", "another one"])
def test_an_overwrite_that_was_killed_leaves_no_shard_of_the_old_dataset_to_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, step: int, again: str
) -> None:
    before = replaced(tmp_path)
    with (
        monkeypatch.context() as patch,
        pytest.raises(KeyboardInterrupt),
        killed_at(step, patch),
        Destination(tmp_path).hold(run, overwrite=True),
    ):
        pytest.fail("nothing was removed")
    assert ("dataset.json" in files(tmp_path)) == (step == 0)
    following = replace(run, settings={"seed": 2}) if again == "another one" else run
    if again == "one without --overwrite" and step == 0:
        with (
            pytest.raises(UnusableInput, match="already holds a dataset"),
            Destination(tmp_path).hold(following, overwrite=False),
        ):
            pytest.fail("it was let in")
        assert files(tmp_path) == before | {"train/notes.txt"}
        return
    with Destination(tmp_path).hold(following, again != "one without --overwrite"):
        Destination(tmp_path).commit(MANIFEST)
    assert files(tmp_path) == {"dataset.json", "train/notes.txt"}


def test_a_loop_that_overwrote_an_unfinished_run_and_was_killed_leaves_no_shard(
    tmp_path: Path,
) -> None:
    finish(tmp_path, RUN)
    loop = replace(OTHER, shards={}, pushed=True)
    with suppress(KeyboardInterrupt), Destination(tmp_path).hold(loop, overwrite=True):
        for split in ("a", "b"):
            Destination(tmp_path).add_split(loop, split, None)
            (tmp_path / split).mkdir()
            (tmp_path / split / "shard-000000.tar").write_bytes(b"tar")
        raise KeyboardInterrupt
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert files(tmp_path) == {".packing.json"}
