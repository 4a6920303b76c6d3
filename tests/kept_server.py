"""The server of packing processes, kept for the next team: it loads Numba for most of a second."""

import time
from collections.abc import Sequence

from reader.processes import fork_server
from reader.processes.child import Child


class KeptServer:
    """Stands in for the `ForkServer` of a team, which ends with the team."""

    def __init__(self, module: str, load: Sequence[str] = ()) -> None:
        self._module, self._load = module, load

    def is_alive(self) -> bool:
        return True

    def fork(self, descriptors: Sequence[int]) -> Child:
        return fork_server.fork(self._module, descriptors, load=self._load)

    def close(self) -> None:
        pass


def fork_fetching(module: str, descriptors: Sequence[int]) -> Child:
    """Stand in for the `start` of fetching processes, which import for a fifth of a second."""
    assert module == "reader.cache.process"
    child = fork_server.fork("fetching_process", descriptors, load=("obstore",))
    kept = fork_server._servers.get(("fetching_process", "obstore"))
    while kept and child.pid == kept[0].process and kept[0].is_alive():
        time.sleep(0.001)
    return child
