from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from packing import files_of

from packer.errors import BadImage, PackingFailed
from packer.images.encode import Policy
from packer.plan.work import ShardJob
from packer.samples.records import Sample
from packer.shards.jobs import pack_shard, run_jobs
from packer.sources.readings.folders.reading import open_folders
from packer.sources.trees.folder import FolderTree
from reader.format import Index
from reader.processes import fork_server

AS_THEY_ARE = Policy(tiled=False)
JobsOf = Callable[..., list[ShardJob]]


class Unreadable:
    """A source of files that cannot be read."""

    classes = ()

    def scan(self) -> list[Sample]:
        return [Sample(f"{n}.jpg", str(n), -1, 1, 1) for n in range(3)]

    def member_files(self, sample: Sample) -> list[str]:
        return []

    def read(self, sample: Sample) -> bytes:
        raise BadImage(f"there is no {sample.name}")


@pytest.fixture
def jobs(source: Path) -> JobsOf:
    """`jobs(folder, policy, threads)`: 13 shards of 3 samples each."""
    opened = open_folders(FolderTree(source))
    samples = [record for record in opened.scan() if isinstance(record, Sample)]

    def make(folder: Path, policy: Policy = AS_THEY_ARE, threads: int = 1) -> list[ShardJob]:
        folder.mkdir(exist_ok=True)
        paths = [folder / f"shard-{number:06d}.tar" for number in range(13)]
        return [
            ShardJob(path, opened.files, samples[number::13], policy, threads)
            for number, path in enumerate(paths)
        ]

    return make


@pytest.mark.parametrize("policy", [AS_THEY_ARE, Policy(tiled=True)], ids=["verbatim", "tiled"])
def test_the_bytes_do_not_depend_on_the_number_of_processes_or_threads(
    tmp_path: Path, jobs: JobsOf, policy: Policy
) -> None:
    packed = []
    for processes, threads in ((1, 1), (1, 3), (3, 2)):
        folder = tmp_path / f"{processes}-{threads}"
        list(run_jobs(jobs(folder, policy, threads), processes, lambda count: None))
        packed.append(files_of(folder))
    assert len(packed[0]) == 26
    assert all(files == packed[0] for files in packed)


@pytest.mark.parametrize("processes", [1, 2])
def test_progress_counts_every_sample(tmp_path: Path, jobs: JobsOf, processes: int) -> None:
    counts: list[int] = []
    list(run_jobs(jobs(tmp_path), processes, counts.append))
    assert sum(counts) == 39
    assert min(counts) >= 0


def test_a_tick_is_heard_after_every_sample_even_a_bad_one(tmp_path: Path) -> None:
    ticks = []
    samples = Unreadable().scan()
    job = ShardJob(tmp_path / "shard.tar", Unreadable(), samples, AS_THEY_ARE)
    pack_shard(job, ticks.append)
    assert len(ticks) == 3


def test_a_file_that_cannot_be_read_is_named_in_the_index(tmp_path: Path) -> None:
    job = ShardJob(tmp_path / "shard.tar", Unreadable(), Unreadable().scan(), AS_THEY_ARE)
    list(run_jobs([job], 1, lambda count: None))
    index = Index(tmp_path / "shard.safetensors")
    assert len(index) == 0
    assert index.rejected == [(f"{n}.jpg", f"there is no {n}.jpg") for n in range(3)]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_write_error_ends_every_process(tmp_path: Path, jobs: JobsOf, processes: int) -> None:
    broken, before = jobs(tmp_path), psutil.Process().children(recursive=True)
    broken[5] = replace(broken[5], path=tmp_path / "nowhere" / "shard.tar")
    with pytest.raises(PackingFailed, match=r"nowhere/shard\.tar cannot be written: No such file"):
        list(run_jobs(broken, processes, lambda count: None))
    begun = set(psutil.Process().children(recursive=True)).difference(before)
    alive = [child for child in begun if child.status() != psutil.STATUS_ZOMBIE]
    servers = {server.process for server in fork_server.living}  # kept for the next ones
    left = [child for child in alive if "packer.processes" in " ".join(child.cmdline())]
    assert {child.pid for child in left} <= servers


def test_no_job_is_no_work() -> None:
    assert list(run_jobs([], 1, lambda count: pytest.fail("nothing can advance"))) == []
