"""Shards in memory: one copy for all processes, nothing left behind, no more than is allowed."""

import os
import pickle
import signal
import sys
from pathlib import Path

import pytest
from other_process import running

from reader import Dataset, ReaderError

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs memfd"),
    pytest.mark.usefixtures("shared_memory_alone"),
]

# Holds a dataset until its input ends; tells which file it is.
HOLDER = """
import os, sys, reader
dataset = reader.Dataset(sys.argv[1], cache="ram")
print(os.stat(dataset._source.holding.memory.path).st_ino, flush=True)
sys.stdin.read()
"""

# Takes the name of a dataset's memory, never fills it, and waits for its end.
STUCK = """
import os, socket, sys
name = sys.argv[1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(chr(0) + name)
listener.listen()
memory = os.memfd_create(name, os.MFD_ALLOW_SEALING)
print("bound", flush=True)
listener.accept()
"""


def names() -> set[str]:
    """The abstract sockets of this machine that lend memory."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return {line.split()[-1] for line in lines if f"@shardfeed-{os.getuid()}-" in line}


def name_of(dataset: Dataset) -> str:
    """Return the abstract socket by which a dataset's memory is found."""
    assert dataset._source.holding is not None
    memory = os.readlink(dataset._source.holding.memory.path)
    return "@" + memory.removeprefix("/memfd:").removesuffix(" (deleted)")


def inode(dataset: Dataset) -> str:
    assert dataset._source.holding is not None
    return str(os.stat(dataset._source.holding.memory.path).st_ino)


def test_all_processes_share_one_copy_and_nothing_is_left_of_it(packed_copy: Path) -> None:
    with running(HOLDER, packed_copy) as (owner, file):
        with running(HOLDER, packed_copy) as (_, other):
            assert other == file
            dataset = Dataset(packed_copy, cache="ram")
            assert inode(dataset) == file
            again = Dataset(packed_copy, cache="ram")
            assert inode(again) == file
            own = name_of(dataset)
            assert own in names()
            assert name_of(again) == own
        os.kill(owner.pid, signal.SIGKILL)
        owner.wait()
        assert own not in names()
        # Those who have it keep it; who comes now makes a new one.
        assert dataset[3][1] == Dataset(packed_copy)[3][1]
        later = Dataset(packed_copy, cache="ram")
        assert inode(later) != file
        assert name_of(later) == own
        assert own in names()
    del later
    assert own not in names()
    assert not [name for name in os.listdir("/dev/shm") if "shardfeed" in name]


def test_a_pickled_dataset_reads_the_same_memory(packed: Path) -> None:
    dataset = Dataset(packed, cache="ram")
    copy = pickle.loads(pickle.dumps(dataset))
    assert inode(copy) == inode(dataset)
    assert copy.read(5, "jpg") == dataset.read(5, "jpg")


def test_who_waits_for_an_owner_that_dies_takes_its_place(packed_copy: Path) -> None:
    dataset = Dataset(packed_copy, cache="ram")
    (name,) = {
        os.readlink(f"/proc/self/fd/{fd}").removeprefix("/memfd:").removesuffix(" (deleted)")
        for fd in os.listdir("/proc/self/fd")
        if os.path.exists(f"/proc/self/fd/{fd}")
        and os.readlink(f"/proc/self/fd/{fd}").startswith("/memfd:shardfeed-")
    }
    del dataset
    # The stuck owner takes one connection and ends without having filled its memory.
    with running(STUCK, name) as (_, line):
        assert line == "bound"
        assert Dataset(packed_copy, cache="ram")[3][1] == Dataset(packed_copy)[3][1]


# Takes a name as above, forks a child that lives on, and ends.
FORKED = """
import os, sys, time, reader
dataset = reader.Dataset(sys.argv[1], cache="ram")
if not (child := os.fork()):
    time.sleep(60)
    os._exit(0)
print(child, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_forked_child_that_outlives_the_owner_does_not_keep_the_name(packed_copy: Path) -> None:
    with running(FORKED, packed_copy) as (owner, child):
        try:
            owner.wait()
            assert Dataset(packed_copy, cache="ram")[3][1] == Dataset(packed_copy)[3][1]
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_what_does_not_fit_is_refused_with_the_numbers(packed: Path) -> None:
    before = names()
    with pytest.raises(
        ReaderError, match=r"needs \d{3},\d{3} bytes .* 1,000 bytes are allowed by cache_limit"
    ):
        Dataset(packed, cache="ram", cache_limit=1000)
    assert names() <= before


def test_an_owner_that_cannot_get_memory_gives_up_the_name(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(name: str, flags: int) -> int:
        raise OSError("no memory")

    before = names()
    monkeypatch.setattr(os, "memfd_create", refuse)
    with pytest.raises(OSError, match="no memory"):
        Dataset(packed, cache="ram")
    assert names() <= before


def test_a_shard_that_was_cut_short_is_named(packed_copy: Path) -> None:
    shard = next(packed_copy.rglob("*.tar"))
    with shard.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(ReaderError, match=f"{shard.name} is truncated"):
        Dataset(packed_copy, cache="ram")
