import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from made_images import write_files

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


def refused(folder: Path, run: Run, reason: str, *, overwrite: bool = False) -> None:
    """Assert that a run is not let in, and that nothing has changed then."""
    before = files(folder) - {".packing.json"}
    with (
        pytest.raises(UnusableInput, match=reason),
        Destination(folder).hold(run, overwrite),
    ):
        pytest.fail("it was let in")
    assert files(folder) - {".packing.json"} == before


def test_a_commit_leaves_the_dataset_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "some" / "where"
    with Destination(folder).hold(RUN, overwrite=False):
        Destination(folder).commit(MANIFEST)
    assert names(folder) == {"dataset.json"}
    assert Manifest.load(folder) == MANIFEST


def test_the_same_run_continues_an_interrupted_one_again_and_again(tmp_path: Path) -> None:
    for _ in range(3):
        interrupt(tmp_path)
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert (tmp_path / "shard-000000.tar").read_bytes() == b"tar"
        Destination(tmp_path).commit(MANIFEST)
    assert names(tmp_path) == {"dataset.json", "shard-000000.tar", "shard-000000.safetensors"}


def test_another_run_does_not_continue_an_interrupted_one(tmp_path: Path) -> None:
    interrupt(tmp_path)
    refused(tmp_path, OTHER, "unfinished run")
    with Destination(tmp_path).hold(RUN, overwrite=False):
        assert (tmp_path / "shard-000000.tar").exists()


@pytest.mark.parametrize(("run", "is_kept"), [(OTHER, False), (RUN, True)], ids=["other", "same"])
def test_overwriting_continues_only_its_own_run(tmp_path: Path, run: Run, is_kept: bool) -> None:
    interrupt(tmp_path)
    with Destination(tmp_path).hold(run, overwrite=True):
        assert (tmp_path / "shard-000000.tar").exists() == is_kept
        assert (tmp_path / "shard-000000.safetensors").exists() == is_kept


@pytest.mark.parametrize("name", ["dataset.json", "shard-000000.tar", "shard-000003.safetensors"])
def test_what_another_command_wrote_is_not_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("theirs")
    refused(tmp_path, RUN, name)
    assert (tmp_path / name).read_text() == "theirs"


@pytest.mark.parametrize("overwrite", [False, True])
def test_two_runs_cannot_hold_one_destination(tmp_path: Path, overwrite: bool) -> None:
    with Destination(tmp_path).hold(RUN, overwrite=False):
        (tmp_path / "shard-000000.tar").write_bytes(b"tar")
        refused(tmp_path, RUN, "another packer is at work", overwrite=overwrite)
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


def test_a_disk_without_locks_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    refused(tmp_path, RUN, "cannot be locked: No locks available")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("splits", ['[".."]', '["OUT"]', "5", "[[]]", '["\\u0000"]', "[" * 10**5])
def test_a_journal_of_other_splits_is_none(tmp_path: Path, splits: str, overwrite: bool) -> None:
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


@pytest.mark.parametrize(
    ("runs", "kept"),
    [
        ([RUN, MENDED], [0, 2]),
        ([RUN, replace(RUN, shards=dict([*SHARDS.items()][:2]))], [0, 1]),
        ([RUN, MENDED, RUN], [0, 2]),
        ([RUN, replace(RUN, place="there")], [0, 1, 2]),
    ],
    ids=["a mended source", "a shard fewer", "mended again", "the same source elsewhere"],
)
def test_a_change_costs_only_its_shards(tmp_path: Path, runs: list[Run], kept: list[int]) -> None:
    for run in runs[:-1]:
        finish(tmp_path, run)
    with Destination(tmp_path).hold(runs[-1], overwrite=False):
        assert tars(tmp_path) == [f"shard-{number:06d}.tar" for number in kept]
        assert len(list(tmp_path.glob("*.safetensors"))) == len(kept)


def test_another_source_and_shards_of_another_hand_are_not_touched(tmp_path: Path) -> None:
    finish(tmp_path, RUN)
    refused(tmp_path, replace(MENDED, place="there"), "of another source")
    (tmp_path / "shard-000007.tar").write_text("theirs")
    refused(tmp_path, MENDED, r"shard-000007\.tar")


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_a_kill_while_a_mended_run_is_noted_keeps_the_note(tmp_path: Path, cut: int) -> None:
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


def replaced(folder: Path) -> None:
    """Write a dataset of two splits, and a file of the user's."""
    tars = ["train/shard-000000.tar", "train/shard-000001.tar", "val/shard-000000.tar"]
    entries = tuple(
        ShardEntry(tar, tar.partition("/")[0], 1, 10240, f"xxh3:{0:032x}", 9, f"xxh3:{0:032x}")
        for tar in tars
    )
    names = {name for entry in entries for name in (entry.file, entry.index)}
    write_files(folder, {name: name for name in (*names, "train/notes.txt")})
    (folder / "dataset.json").write_text(replace(MANIFEST, shards=entries).dump())


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
    replaced(tmp_path)
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
        refused(tmp_path, following, "already holds a dataset")
        return
    with Destination(tmp_path).hold(following, again != "one without --overwrite"):
        Destination(tmp_path).commit(MANIFEST)
    assert files(tmp_path) == {"dataset.json", "train/notes.txt"}


def test_a_killed_loop_that_overwrote_a_run_leaves_no_shard(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("found", "joins"),
    [
        (RUN, True),
        (MENDED, True),
        (replace(RUN, place="there"), True),
        (replace(MENDED, place="there"), False),
        (OTHER, False),
        (replace(RUN, replaces=True), False),
    ],
)
def test_runs_of_one_source_or_place_with_the_same_settings_join(found: Run, joins: bool) -> None:
    assert RUN.joins(found) is joins
