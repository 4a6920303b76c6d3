"""What is said where no dataset is: what lies there instead, and what to do."""

import os
import re
import shutil
from pathlib import Path

import pytest
from row_files import rows_of

from packer.run.log import JOURNAL
from reader.format import FormatError, Manifest


def reason_for(place: str | Path) -> str:
    """Why `place` is refused."""
    with pytest.raises(FormatError) as refused:
        Manifest.load(place)
    return str(refused.value)


def filled(folder: Path, *names: str) -> Path:
    """The folder, with files of these names."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(("names", "said"), rows_of(__file__, "mistaken.rows"))
def test_a_folder_leads_to_what_makes_a_dataset_of_it(
    tmp_path: Path, names: str, said: str
) -> None:
    folder = filled(tmp_path / "my files", *names.split())
    assert said.format(folder) in reason_for(folder)


def test_a_folder_beside_its_dataset_leads_there(packed: Path, tmp_path: Path) -> None:
    filled(tmp_path, "images/1.jpg")
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        shutil.copy(packed / "dataset.json", tmp_path / name)
        last = reason_for(tmp_path)
        assert last.startswith(f"{tmp_path} is not a dataset, but contains {tmp_path / 'first'}")
    assert last.endswith(f", {tmp_path / 'second'}. Open one of these.")


def test_only_a_folder_that_is_being_packed_is_said_to_be_interrupted(tmp_path: Path) -> None:
    assert "interrupted" not in reason_for(tmp_path)
    filled(tmp_path, JOURNAL, "shard-000000.tar")
    assert "is not a dataset yet" in reason_for(tmp_path)
    assert "run the same command again" in reason_for(tmp_path)


def test_a_file_of_a_dataset_leads_to_its_folder(packed_copy: Path, tmp_path: Path) -> None:
    filled(packed_copy, "train/shard-000000.tar")
    for name in ("dataset.json", "shard-000001.safetensors", "train/shard-000000.tar"):
        path = packed_copy / name
        assert reason_for(path) == f"{path} is a file of a dataset. Open the folder {packed_copy}."
    (tmp_path / "notes").touch()
    assert reason_for(tmp_path / "notes").endswith("notes is a file, but a dataset is a folder.")
    assert re.match("The folder .*notes/x does not exist", reason_for(tmp_path / "notes" / "x"))


def test_only_a_few_entries_are_looked_at_of_a_folder_however_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path, *(f"{number // 20}/{number}.txt" for number in range(1000)))
    looked_at = 0
    scandir = os.scandir

    class Counted:
        def __init__(self, path: str | Path) -> None:
            self.entries = scandir(path)

        def __enter__(self) -> "Counted":
            return self

        def __exit__(self, *error: object) -> None:
            self.entries.close()

        def __iter__(self) -> "Counted":
            return self

        def __next__(self) -> "os.DirEntry[str]":
            nonlocal looked_at
            looked_at += 1
            return next(self.entries)

    monkeypatch.setattr(os, "scandir", Counted)
    assert "To make one, run `packer pack SOURCE SHARDS`" in reason_for(tmp_path)
    assert looked_at < 350


def test_what_may_not_be_listed_is_no_dataset_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    assert "it has no dataset.json" in reason_for(tmp_path)
