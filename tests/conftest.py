"""Images and datasets that the tests make for themselves, and a look for leftovers."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from PIL import Image

import reader.cache.client
from packer import Writer, processes
from packer.run.report import PackReport
from reader.loader import prefetch
from reader.monitoring import stalls
from reader.processes import fork_server
from reader.processes.child import start

sys.path.insert(0, str(Path(__file__).parent))  # for the modules that only tests use

import made_images
import packing
from kept_server import fork_fetching, fork_packing
from leftovers import nothing_left

pytest_plugins = ["source_fixtures"]  # for the tests of all rooms that read sources

# A busy machine is no failure: nothing here asserts how long it takes.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("few", settings.get_profile("busy"), max_examples=25)  # scripts/test.sh
settings.load_profile("busy")
stalls.PATIENCE = prefetch._WARN_SECONDS = 300.0  # warnings are errors here, and machines busy
fork_server._KEPT_SECONDS = 3600  # other tests may lie between those that need workers


# A shell that starts the tests in the background makes them ignore Ctrl-C, and their children too.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # by nohup: not for their children
    signal.signal(signal.SIGHUP, lambda *_: None)
os.environ.pop("PYTHONUNBUFFERED", None)  # which few users have: their output is buffered
os.environ["OMP_NUM_THREADS"] = "1"  # torch's threads wait for each other by spinning
_preloaded = str(Path(__file__).parent / "preloaded")
os.environ["PRELOADED_FOR"] = str(os.getpid())
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_preloaded, os.environ.get("PYTHONPATH")]))


@pytest.fixture(autouse=True, scope="session")
def kept_server() -> None:
    """Fork packing and fetching processes quickly, but where `own_server` is asked for."""
    processes.fork = fork_packing
    reader.cache.client.start = fork_fetching  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def kept_workers_server() -> Iterator[None]:
    """Keep the server of workers over a test that changes the environment, and has another."""
    now = fork_server._inherited()  # an earlier test may have changed it for good
    before = {kind: kept for kind, kept in fork_server._servers.items() if kept[1] == now}
    yield
    for kind, kept in before.items():
        if kept[0].is_alive():
            fork_server._servers[kind] = kept


@pytest.fixture
def own_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have packing processes forked and fetching ones executed as they are for users."""
    monkeypatch.setattr(processes, "fork", fork_server.fork)
    monkeypatch.setattr(reader.cache.client, "start", start)


@pytest.fixture(scope="session")
def make_image() -> Callable[..., Image.Image]:
    """`made_images.make_image`."""
    return made_images.make_image


@pytest.fixture(scope="session")
def encode() -> Callable[..., bytes]:
    """`made_images.encode`."""
    return made_images.encode


@pytest.fixture(scope="session")
def make_folder() -> Callable[..., Path]:
    """`made_images.make_folder`."""
    return made_images.make_folder


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 3 classes with 13 JPEGs each; not to be changed."""
    return made_images.make_folder(tmp_path_factory.mktemp("source") / "images", images=13)


@pytest.fixture(scope="session")
def run_pack() -> Callable[..., PackReport]:
    """`packing.run_pack`."""
    return packing.run_pack


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    """The packed `source`, 39 samples in 4 shards; not to be changed."""
    dst = tmp_path_factory.mktemp("packed") / "shards"
    packing.run_pack(source, dst, shard_samples=10)
    return dst


@pytest.fixture(scope="session")
def write_grown() -> Callable[..., Path]:
    """`write_grown(dst, "shards", n)`: 5n samples, in n "shards", "classes" or "splits", or in one.

    Without "classes" there are two; `each=2` makes 2n samples.
    """
    images = [made_images.encode(made_images.make_image(seed, 16, 16), "PNG") for seed in range(4)]

    def write(dst: Path, direction: str, n: int, each: int = 5) -> Path:
        shard_samples = each if direction == "shards" else None
        labels = n if direction == "classes" else 2
        options = {"classes": [f"class{label}" for label in range(labels)], "jobs": 1}
        with Writer(dst, shard_samples=shard_samples, progress=False, **options) as writer:
            for number in range(each * n):
                split = f"split{number // each}" if direction == "splits" else ""
                image, label = images[number % 4], number % labels
                writer.write({"image": image, "label": label, "split": split})
        return dst

    return write


@pytest.fixture(scope="session")
def grown_dataset(
    tmp_path_factory: pytest.TempPathFactory, write_grown: Callable[..., Path]
) -> Callable[..., Path]:
    """`grown_dataset("shards", n)`: what `write_grown` writes, not to be changed."""
    root = tmp_path_factory.mktemp("grown")

    def make(direction: str, n: int, each: int = 5) -> Path:
        dst = root / f"{direction}{n}-{each}"
        return dst if dst.exists() else write_grown(dst, direction, n, each)

    return make


class _NoTestInEnvironment:
    """By another environment, such as with the name of each test, workers are started anew."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self) -> Iterator[object]:
        with self._without():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self) -> Iterator[object]:
        with self._without():
            return (yield)

    @contextmanager
    def _without(self) -> Iterator[None]:
        name = os.environ.pop("PYTEST_CURRENT_TEST", None)
        try:
            yield
        finally:
            if name is not None:
                os.environ["PYTEST_CURRENT_TEST"] = name


def pytest_configure(config: pytest.Config) -> None:
    """The hooks of this file would not be called for fixtures of the session."""
    config.pluginmanager.register(_NoTestInEnvironment())


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules need not be looked through for garbage time and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def no_leftovers() -> Iterator[None]:
    """Fails a test that leaves processes or descriptors behind."""
    with nothing_left():
        yield
