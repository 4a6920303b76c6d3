"""The cores and memory that this process may use."""

import contextlib
import os
import sys
from collections.abc import Iterator, Set
from pathlib import Path

_WORKERS, _WORKERS_PER_CORE = 64, 8
_RECLAIMABLE = ("active_file", "inactive_file")  # in a control group's memory.stat


def usable_cores() -> int:
    """Return the number of cores by affinity, the cgroup's quota and the ranks of this machine."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = affinity or 1
    quota = _cgroup_quota()
    if quota is not None:
        cores = min(cores, max(1, int(quota)))
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, cores // max(1, int(ranks))) if ranks.isdigit() else cores


def most_workers() -> int:
    """Return how many worker processes a Loader starts at most: more are a mistake."""
    return max(_WORKERS, _WORKERS_PER_CORE * (os.cpu_count() or 1))


def cores_near(pci: str, sysfs: Path = Path("/sys")) -> frozenset[int]:
    """Return the cores of a PCI device's NUMA node; empty if the system does not list them."""
    try:
        ranges = (sysfs / "bus/pci/devices" / pci / "local_cpulist").read_text().strip()
        cores: set[int] = set()
        for part in filter(None, ranges.split(",")):
            first, _, last = part.partition("-")
            cores.update(range(int(first), int(last or first) + 1))
        return frozenset(cores)
    except (OSError, ValueError):
        return frozenset()


@contextlib.contextmanager
def running_on(cores: Set[int]) -> Iterator[None]:
    """Run this thread on `cores`, so that memory that it touches first is near them."""
    before: set[int] = set()
    with contextlib.suppress(OSError):
        if cores:
            before = os.sched_getaffinity(0)
            os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        if before:
            os.sched_setaffinity(0, before)


def _cgroup_quota() -> float | None:
    """Return the CPUs that the cgroup (v2, then v1) grants; None for no limit."""
    folder = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
        microseconds = int((folder / "cpu/cpu.cfs_quota_us").read_text())
        every = int((folder / "cpu/cpu.cfs_period_us").read_text())
        return microseconds / every if microseconds > 0 else None
    return None


def available_memory() -> int:
    """Return the available bytes of the system and the control group; `sys.maxsize` if unknown."""
    try:
        with open("/proc/meminfo") as file:
            fields = dict(line.split(":") for line in file)
        available = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # no Linux
        return sys.maxsize
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        parts = Path("/sys/fs/cgroup/memory.stat").read_text().splitlines()
    except OSError:
        return available
    # Cached files count as used, but can be reclaimed.
    cached = sum(int(part.split()[1]) for part in parts if part.split()[0] in _RECLAIMABLE)
    return available if most == "max" else min(available, int(most) - used + cached)
