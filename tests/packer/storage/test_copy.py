"""A copy is fetched once for all who need it at a time, and changed by nobody while it is read."""

import shutil
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.storage.copy import Copy
from packer.storage.objects import mtime_ns
from reader.store.transport import Listed

URL = "s3://bucket/raw"
OBJECTS = {f"{name}/x.jpg": Listed(3, '"1"', 10**18) for name in "ab"}
OTHERS = {"a/x.jpg": Listed(3, '"2"', 10**18)}


class Fetches:
    """Stands for a store; notes what is fetched, and waits until it is let go."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.begun, self.let_go = threading.Event(), threading.Event()
        self.let_go.set()

    def __call__(self, objects: Mapping[str, Listed], folder: Path, unfinished: Path) -> None:
        import os

        self.begun.set()
        self.let_go.wait()
        for name, listed in objects.items():
            self.names.append(name)
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(bytes(listed.size))
            os.utime(folder / name, ns=(0, mtime_ns(listed)))


@pytest.fixture
def fetches() -> Fetches:
    return Fetches()


def test_who_comes_while_another_fetches_waits_for_it(tmp_path: Path, fetches: Fetches) -> None:
    first, second = Copy(URL, tmp_path), Copy(URL, tmp_path)
    waits = threading.Event()
    fetches.let_go.clear()
    threads = [threading.Thread(target=first.hold, args=(OBJECTS, fetches, lambda text: None))]
    threads[0].start()
    fetches.begun.wait()
    arguments = OBJECTS, fetches, lambda text: waits.set()
    threads.append(threading.Thread(target=second.hold, args=arguments))
    threads[1].start()
    waits.wait()
    fetches.let_go.set()
    for thread in threads:
        thread.join()
    assert fetches.names == list(OBJECTS)
    assert not first.remove()
    assert second.remove()
    assert not list(tmp_path.iterdir())


def test_what_somebody_reads_is_not_changed(
    tmp_path: Path, fetches: Fetches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("packer.storage.copy._TRIES", 3)  # it waits longer before each
    first, second = Copy(URL, tmp_path), Copy(URL, tmp_path)
    first.hold(OBJECTS, fetches, lambda text: None)
    with pytest.raises(UnusableInput, match="another packer uses them"):
        second.hold(OTHERS, fetches, lambda text: None)
    assert {path.name for path in first.folder.iterdir()} == {"a", "b"}
    first.leave()
    second.hold(OTHERS, fetches, lambda text: None)
    assert {path.name for path in second.folder.iterdir()} == {"a"}
    second.remove()


def test_only_what_a_killed_run_left_is_removed(tmp_path: Path, fetches: Fetches) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    copy = Copy(URL, tmp_path)
    (copy.root / "unfinished").mkdir(parents=True)
    (copy.root / "unfinished" / "0").write_bytes(b"part")
    (copy.folder / "b" / "x.jpg").mkdir(parents=True)  # a folder where a file is to be
    copy.hold(OBJECTS, fetches, lambda text: None)
    assert sorted(path.name for path in copy.root.iterdir()) == [".lock", "raw"]
    copy.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("url", ["s3://bucket/..", "s3://bucket/a b/{x,y}", "s3://bucket"])
def test_a_copy_lies_in_a_folder_of_its_own_below_scratch(tmp_path: Path, url: str) -> None:
    copy = Copy(url, tmp_path)
    assert copy.root.parent == tmp_path
    assert copy.folder.parent == copy.root
    assert copy.root != Copy(URL, tmp_path).root
    shutil.rmtree(copy.root, ignore_errors=True)
