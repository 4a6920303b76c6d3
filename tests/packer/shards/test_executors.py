import sys
from pathlib import Path

import pytest
from packing import files_of, pack

from packer.errors import UnusableInput
from packer.options.declared import PackOptions
from packer.shards import executors
from packer.shards.executors import connected

NOT_INSTALLED = "it is not installed with the tests"  # distributed alone is a script of docs/tasks
EIGHT = PackOptions(shard_samples=20)  # shards of `many`


def test_local_is_no_executor() -> None:
    with connected("local") as executor:
        assert executor is None


@pytest.mark.parametrize(("place", "package"), [("ray", "ray"), ("dask://h:1", "distributed")])
def test_an_engine_that_is_not_installed_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, place: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    extra = r"pip install 'shardfeed\[(ray|dask)\]'"
    with pytest.raises(UnusableInput, match=extra), connected(place):
        pytest.fail("it was found")


def test_a_dask_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed.client", reason=NOT_INSTALLED)
    monkeypatch.setattr(executors, "_DASK_SECONDS", 0.2)
    with (
        pytest.raises(UnusableInput, match=r"No dask scheduler answers at tcp://127\.0\.0\.1:9"),
        connected("dask://127.0.0.1:9"),
    ):
        pytest.fail("it was found")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of its own
def test_dask_writes_the_same_bytes_while_a_worker_is_killed(tmp_path: Path, many: Path) -> None:
    pytest.importorskip("distributed.client", reason=NOT_INSTALLED)
    from distributed import LocalCluster

    pack(many, tmp_path / "here", EIGHT, 1)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        with connected(address) as executor:
            assert executor is not None
            next(iter(cluster.workers.values())).process.process.kill()
            pack(many, tmp_path / "dask", EIGHT, 1, executor=executor)
    assert files_of(tmp_path / "dask") == files_of(tmp_path / "here")
