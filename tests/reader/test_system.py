"""How many workers there are by default."""

import os
from pathlib import Path

import pytest

from reader.system import available_memory, cores_near, running_on, usable_cores


@pytest.fixture(autouse=True)
def no_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)


QUOTA, PERIOD = (f"/sys/fs/cgroup/cpu/cpu.cfs_{name}_us" for name in ("quota", "period"))


def set_quota(monkeypatch: pytest.MonkeyPatch, files: dict[str, str]) -> None:
    def read_text(path: Path, *arguments: object, **options: object) -> str:
        if str(path) in files:
            return files[str(path)]
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", read_text)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(16)))


def test_the_affinity_of_the_process_limits_the_cores() -> None:
    allowed = os.sched_getaffinity(0)
    assert usable_cores() <= len(allowed)
    with running_on({max(allowed)}):
        assert usable_cores() == 1


def test_the_ranks_of_a_machine_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    set_quota(monkeypatch, {})
    for ranks, expected in (
        ("1", 16),
        ("2", 8),
        ("3", 5),
        ("16", 1),
        ("64", 1),
        ("", 16),
        ("0", 16),
        ("many", 16),
    ):
        monkeypatch.setenv("LOCAL_WORLD_SIZE", ranks)
        assert usable_cores() == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"/sys/fs/cgroup/cpu.max": "max 100000\n"}, 16),
        ({"/sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),
        ({"/sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2),
        ({"/sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"/sys/fs/cgroup/cpu.max": "6400000 100000\n"}, 16),
        ({"/sys/fs/cgroup/cpu.max": "nonsense"}, 16),
        ({QUOTA: "300000\n", PERIOD: "100000\n"}, 3),
        ({QUOTA: "-1\n", PERIOD: "100000\n"}, 16),
    ],
)
def test_the_quota_of_the_control_group_limits_the_cores(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: int
) -> None:
    set_quota(monkeypatch, files)
    assert usable_cores() == expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("0-3\n", {0, 1, 2, 3}),
        ("0-1,32-33\n", {0, 1, 32, 33}),
        ("5\n", {5}),
        ("7,9-10\n", {7, 9, 10}),
        ("\n", set()),
        ("nonsense\n", set()),
    ],
)
def test_the_cores_near_a_gpu_are_those_that_its_pci_device_lists(
    tmp_path: Path, told: str, expected: set[int]
) -> None:
    for pci, text in (("0000:3b:00.0", told), ("0000:af:00.0", "64-127\n")):
        device = tmp_path / "bus/pci/devices" / pci
        device.mkdir(parents=True)
        (device / "local_cpulist").write_text(text)
    assert cores_near("0000:3b:00.0", tmp_path) == expected
    assert cores_near("0000:3c:00.0", tmp_path) == frozenset()  # which is not listed


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity here")
def test_a_thread_is_bound_to_cores_for_as_long_as_asked() -> None:
    before = os.sched_getaffinity(0)
    one = {min(before)}
    with running_on(one):
        assert os.sched_getaffinity(0) == one
    assert os.sched_getaffinity(0) == before
    with running_on(frozenset()):
        assert os.sched_getaffinity(0) == before
    with running_on({100_000}):  # no such core
        assert os.sched_getaffinity(0) == before


def test_files_that_the_control_group_has_cached_do_not_take_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = {
        "memory.max": "1000000\n",
        "memory.current": "900000\n",
        "memory.stat": "anon 300000\ninactive_file 500000\nactive_file 100000\n",
    }
    monkeypatch.setattr(Path, "read_text", lambda path: told[path.name])
    assert available_memory() == 700_000
