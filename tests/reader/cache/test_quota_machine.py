"""A cache on a disk that is full, and one of several users: what only root can try."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from delivered import CROP
from store_server import StoreServer

from reader import Dataset, Loader, StoreError
from reader.cache.quota import DiskQuota

pytestmark = [
    pytest.mark.usefixtures("needs_store"),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can try it"),
]

Opened = Callable[..., Dataset]
COUNT = 39


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that has less room than the packed `source` takes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=150k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(disk: Path) -> None:
    """Take all room that is left."""
    with (disk / "other").open("wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(4096))
            except OSError:
                return


def test_a_disk_that_is_full_before_is_told(opened: Opened, disk: Path) -> None:
    fill(disk)
    with pytest.raises(StoreError, match="cannot hold the cache: No space left on device"):
        opened(cache_dir=disk / "cache")


def test_a_disk_that_fills_up_is_told_and_what_is_there_serves_on_while_it_is_full(
    packed: Path, server: StoreServer, opened: Opened, disk: Path
) -> None:
    dataset = opened(cache_dir=disk / "cache", cache_limit=10**6)
    with (
        Loader(dataset, batch_size=4, workers=1, transforms=[CROP]) as loader,
        pytest.raises(StoreError, match=r"sample '.*' of .*: the disk is full. Free disk space"),
    ):
        list(loader)
    dataset.fetching.close()
    fill(disk)
    limit = 180_000  # less than is there
    again = opened(cache_dir=disk / "cache", cache_limit=limit)
    expected = Dataset(packed)
    for number in range(COUNT):
        assert (again[number][0] == expected[number][0]).all()


def as_user(number: int, umask: int, cache: Path) -> str:
    """What another user is told who opens a cache."""
    ours, theirs = os.pipe()
    if not (child := os.fork()):
        try:
            os.setgroups([900])
            os.setresgid(number, number, number)
            os.setresuid(number, number, number)
            os.umask(umask)
            try:
                DiskQuota(cache, 10**6)
            except StoreError as error:
                os.write(theirs, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(theirs)
    with open(ours, encoding="utf-8") as file:
        return file.read()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that all users reach."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_users_share_a_cache_as_a_group_or_are_told_how_to(open_folder: Path) -> None:
    everybodys, groups = open_folder / "everybodys", open_folder / "groups"
    everybodys.mkdir()
    everybodys.chmod(0o777)
    groups.mkdir()
    os.chown(groups, 0, 900)
    groups.chmod(0o2775)
    assert [as_user(1001, 0o002, groups), as_user(1002, 0o002, groups)] == ["", ""]
    assert as_user(1001, 0o022, everybodys) == ""
    told = as_user(1002, 0o022, everybodys)
    assert "cannot hold the cache: Permission denied (to share another user's" in told
    assert "Give another cache_dir=" in told
