"""The server of fetching processes, kept for the next one."""

import time
from collections.abc import Sequence

from reader.processes import fork_server
from reader.processes.child import Child


def fork_fetching(module: str, descriptors: Sequence[int]) -> Child:
    """Stand in for the `start` of fetching processes, which import for a fifth of a second."""
    assert module == "reader.cache.process"
    child = fork_server.fork("fetching_process", descriptors, load=("obstore",))
    kept = fork_server._servers.get(("fetching_process", "obstore"))
    while kept and child.pid == kept[0].process and kept[0].is_alive():
        time.sleep(0.001)
    return child
