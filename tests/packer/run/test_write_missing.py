"""How the shards of a run are divided among processes and threads."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packing import pack

from packer.options.declared import PackOptions
from packer.plan.work import ShardJob
from packer.run import write_missing


@pytest.mark.parametrize(
    ("jobs", "threads"),
    [(1, [1] * 5), (2, [1, 1, 1, 1, 2]), (3, [1, 1, 1, 2, 2]), (5, [1] * 5), (12, [3] * 5)],
)
def test_the_shards_of_the_last_round_share_the_cores_that_have_none(
    jobs: int, threads: list[int], own_source: Path, dst: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    plain = write_missing.run_jobs

    def watched(tasks: Iterable[ShardJob], processes: int, *rest: Any) -> Iterator[Any]:
        listed = list(tasks)
        given.extend(job.threads for job in listed)
        return plain(listed, 1, *rest)

    monkeypatch.setattr(write_missing, "run_jobs", watched)
    samples = sum(1 for path in own_source.rglob("*.jpg"))
    pack(own_source, dst, PackOptions(shard_samples=-(-samples // 5)), jobs)
    assert given == threads
