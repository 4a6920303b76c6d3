"""How many workers a process should have."""

import os
from pathlib import Path


def usable_cores() -> int:
    """Cores that this process may use: its CPU affinity, its cgroup's quota, its fair share.

    With LOCAL_WORLD_SIZE (torchrun) set, the machine's ranks share the cores evenly.
    """
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = affinity or 1
    quota = _cgroup_quota()
    if quota is not None:
        cores = min(cores, max(1, int(quota)))
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, cores // max(1, int(ranks))) if ranks.isdigit() else cores


def _cgroup_quota() -> float | None:
    """CPUs that the cgroup (v2, then v1) grants, None for no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        folder = Path("/sys/fs/cgroup/cpu")
        microseconds = int((folder / "cpu.cfs_quota_us").read_text())
        return (
            microseconds / int((folder / "cpu.cfs_period_us").read_text())
            if microseconds > 0
            else None
        )
    except (OSError, ValueError, ZeroDivisionError):
        return None
