"""Processes that tests start, forked from servers that are kept and have loaded more than usual."""

import time
from collections.abc import Sequence

from reader.processes import fork_server
from reader.processes.child import Child

_UNPICKLED = {  # what each process with this module would import for its first task
    "packer.sources.tables.parquet": (
        "packer.sources.members.rows",
        "packer.sources.scanners.rows.parquet",
    )
}


def fork_packing(module: str, descriptors: Sequence[int], *, load: Sequence[str] = ()) -> Child:
    """Stand in for the `fork` of packing processes."""
    more = (name for one in load for name in _UNPICKLED.get(one, ()))
    return fork_server.fork(module, descriptors, load=[*load, *more])


def fork_fetching(module: str, descriptors: Sequence[int]) -> Child:
    """Stand in for the `start` of fetching processes, which import for a fifth of a second."""
    assert module == "reader.cache.process"
    child = fork_server.fork("fetching_process", descriptors, load=("obstore",))
    kept = fork_server._servers.get(("fetching_process", "obstore"))
    while kept and child.pid == kept[0].process and kept[0].is_alive():
        time.sleep(0.001)
    return child
