import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packing import files_of, pack

from packer.options.declared import PackOptions
from packer.shards.executors import RayExecutor

pytest.importorskip("ray", reason="it is not installed with the tests")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray's own
    pytest.mark.timeout(300),
]

EIGHT = PackOptions(shard_samples=20)  # shards of `many`


@pytest.fixture
def nodes() -> Iterator[list[Any]]:
    """A cluster of two nodes with a CPU each, and one without for the driver."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 100 << 20}
    head = {"num_cpus": 0, "include_dashboard": False, **small}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    found = [cluster.add_node(num_cpus=1, **small) for _ in range(2)]
    os.environ["RAY_ADDRESS"] = cluster.address
    try:
        yield found
    finally:
        del os.environ["RAY_ADDRESS"]
        cluster.shutdown()


def test_ray_writes_the_same_if_a_node_ends(tmp_path: Path, many: Path, nodes: list[Any]) -> None:
    pack(many, tmp_path / "here", EIGHT, 1)
    dst = tmp_path / "ray"

    def kill() -> None:
        while len(list(dst.glob("*.safetensors"))) < 1:
            time.sleep(0.01)
        nodes[1].kill_raylet(check_alive=False)

    killer = threading.Thread(target=kill)
    killer.start()
    ends = signal.getsignal(signal.SIGTERM)
    with RayExecutor() as executor:
        assert executor.workers == 2
        assert signal.getsignal(signal.SIGTERM) == ends
        pack(many, dst, EIGHT, 1, executor=executor)
    killer.join()
    assert files_of(dst) == files_of(tmp_path / "here")
