"""A real job of torch.distributed: equal steps, every sample once, killed and started again."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from made_images import encode, make_image

import reader
from reader.order.shuffle import GlobalShuffle

pytestmark = pytest.mark.slow  # tests of reader.loader.epochs pretend to be such a job

COUNT = 400
SCRIPT = Path(__file__).parent / "train_distributed.py"


@pytest.fixture(scope="module")
def folder(make_dataset: Callable[..., Path]) -> Path:
    """400 small images of 2 classes."""
    images = [encode(make_image(seed, 16, 16), "PNG") for seed in range(8)]
    files = {f"class{n % 2}/{n:03d}.png": images[n % 8] for n in range(COUNT)}
    return make_dataset(files, shard_samples=90)


@contextmanager
def torchrun(ranks: int, *arguments: object) -> Iterator["subprocess.Popen[bytes]"]:
    """The job, in a session of its own that is killed at the end."""
    environment = {**os.environ, "PYTHONPATH": str(Path(reader.__file__).parent.parent)}
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    with subprocess.Popen(
        [*command, f"--nproc-per-node={ranks}", SCRIPT, *map(str, arguments)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as job:
        try:
            yield job
        finally:
            kill(job)


def kill(job: "subprocess.Popen[bytes]") -> None:
    """SIGKILL for the launcher, its ranks (sessions of their own) and their workers, at once."""
    if job.poll() is not None:
        return
    launcher = psutil.Process(job.pid)
    launcher.suspend()  # or it would see its ranks die
    everybody = [*launcher.children(recursive=True), launcher]
    for process in everybody:
        with contextlib.suppress(psutil.NoSuchProcess):  # a worker ends with its rank
            process.kill()
    psutil.wait_procs(everybody[:-1], timeout=30)
    job.wait()


def steps_of(out: Path, ranks: int) -> list[list[tuple[dict[str, Any], int, list[int]]]]:
    """What each rank wrote: (state, rows, valid samples) of each step."""
    files = [out / f"seen-{ranks}-{rank}.jsonl" for rank in range(ranks)]
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def test_a_job_that_is_killed_goes_on_with_fewer_ranks_and_misses_and_repeats_nothing(
    folder: Path, tmp_path: Path
) -> None:
    # An epoch of 400 is 19 steps of 3 x 7 and one of the last sample; 7 steps of the next are done.
    saved = {"epoch": 0, "position": 0}
    with torchrun(3, folder, tmp_path, 2, 28) as job:
        while not (tmp_path / "stopped").exists() or saved["position"] != 7 * 21:
            assert job.poll() is None, "the job ended by itself"
            time.sleep(0.02)
            with contextlib.suppress(FileNotFoundError):
                saved = json.loads((tmp_path / "state.json").read_text())
        kill(job)
        assert job.returncode == -signal.SIGKILL
    assert (saved["epoch"], saved["position"]) == (1, 7 * 21)
    with torchrun(2, folder, tmp_path, 2, 0) as job:
        assert job.wait(300) == 0

    before = [rank[:27] for rank in steps_of(tmp_path, 3)]  # step 28 was not saved
    after = steps_of(tmp_path, 2)
    assert [len(rank) for rank in before] == [27] * 3
    assert [len(rank) for rank in after] == [-(-(COUNT - 7 * 21) // (2 * 7))] * 2
    consumed: list[int] = []
    for ranks in (before, after):
        for step in zip(*ranks, strict=True):
            assert len({rows for _, rows, _ in step}) == 1
            assert len({json.dumps(state) for state, _, _ in step}) == 1
            consumed += [sample for _, _, samples in step for sample in samples]
    order = GlobalShuffle(COUNT, 11)
    assert consumed == [
        sample for epoch in range(2) for sample in order.samples(np.arange(COUNT), epoch).tolist()
    ]


EARLY = """
    import json, os, sys, warnings
    import torch.distributed as dist
    import reader

    def load():
        return reader.Loader(sys.argv[1], batch_size=7, shuffle=True, workers=1, fields=["index"])

    early = load()
    dist.init_process_group("gloo")
    with early, load() as late:
        seen = [[[i.tolist() for (i,) in loader] for _ in range(2)] for loader in (early, late)]
    with open(f"{sys.argv[2]}/{dist.get_rank()}", "w") as file:
        json.dump(seen, file)
    dist.destroy_process_group()
"""
SPAWNED = """
    import json, sys
    import torch.distributed as dist
    import torch.multiprocessing
    import reader

    def load():
        return reader.Loader(sys.argv[1], batch_size=7, shuffle=True, workers=1, fields=["index"])

    def train(rank, early, out):
        dist.init_process_group("gloo", f"file://{out}/store", rank=rank, world_size=2)
        late = load()
        seen = [[[i.tolist() for (i,) in loader] for _ in range(2)] for loader in (early, late)]
        with open(f"{out}/{rank}", "w") as file:
            json.dump(seen, file)
        dist.destroy_process_group()

    if __name__ == "__main__":
        torch.multiprocessing.spawn(train, (load(), sys.argv[2]), nprocs=2)
"""
LAUNCHER = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")


@pytest.mark.parametrize(
    ("script", "launcher"),
    [pytest.param(EARLY, LAUNCHER, id="torchrun"), pytest.param(SPAWNED, (), id="spawn")],
)
def test_a_loader_made_before_the_process_group_reads_its_ranks_share(
    folder: Path, tmp_path: Path, script: str, launcher: Sequence[str]
) -> None:
    file = tmp_path / "script.py"
    file.write_text(textwrap.dedent(script))
    done = subprocess.run(
        [sys.executable, *launcher, file, folder, tmp_path],
        env={**os.environ, "PYTHONPATH": str(Path(reader.__file__).parent.parent)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    ranks = [json.loads((tmp_path / str(rank)).read_text()) for rank in range(2)]
    for early, late in ranks:
        assert early == late
    for epoch in range(2):
        numbers = [n for early, _ in ranks for batch in early[epoch] for n in batch]
        assert sorted(numbers) == list(range(COUNT))
    # torchrun's variables told it before there was a group; without them it is told of the change
    assert ("reads as rank" in done.stderr) == (not launcher)
