"""The server of packing processes, kept for the next team: it loads Numba for most of a second."""

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
