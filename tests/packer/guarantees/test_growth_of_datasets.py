"""What is done with a dataset, and to finish one, takes at most twice the work for twice of it."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count, product
from pathlib import Path

import pytest
from finished import export, verify
from growth import SIZE, assert_linear
from made_images import encode, make_image
from packing import run_pack
from sampled import sampled

from packer import pack
from packer.cli.main import main
from packer.inspect.report.table import gather
from packer.options.declared import PackOptions
from packer.plan.members import plan_members
from packer.progress import QUIET
from packer.run.destination import Destination
from packer.run.run import Run
from packer.storage.dataset import Finished
from packer.storage.source import LocalSource
from reader import Dataset
from reader.format import Manifest
from reader.order import shuffle

Grown = Callable[[str, int, int], Path]

# Splits have shards of their own, and as many classes as many samples.
DIRECTIONS = ["splits", "classes", "samples", "shards"]
COMMANDS = ["info", "plan --shuffle none", "verify --jobs 1"]
TOOLS = ["dali", "energon", "wids"]


@pytest.mark.parametrize("use", sampled(product(COMMANDS, DIRECTIONS), every=3), ids=": ".join)
def test_a_command(
    use: tuple[str, str], grown_dataset: Grown, capfd: pytest.CaptureFixture[str]
) -> None:
    command, direction = use
    name, *options = command.split()
    each = 5 if name == "plan" else 2

    def run(n: int) -> Callable[[], object]:
        arguments = [name, str(grown_dataset(direction, n, each)), *options]
        shuffle._permutation.cache_clear()  # all runs have to make the tables of small shuffles
        return lambda: main(arguments, standalone_mode=False)

    # It lists 20 classes; and a small shuffle is a table for fewer samples.
    few = direction == "classes" and name == "info"
    assert_linear(run, 64 if few else 16 if name == "plan" else SIZE)


@pytest.mark.parametrize("use", sampled(product(TOOLS, DIRECTIONS), every=3), ids=": ".join)
def test_an_export(use: tuple[str, str], grown_dataset: Grown, tmp_path: Path) -> None:
    runs, (tool, direction) = count(), use

    def run(n: int) -> Callable[[], object]:
        dst, out = grown_dataset(direction, n, 2), tmp_path / str(next(runs))
        return lambda: export(dst, tool, False, QUIET, out)

    assert_linear(run)


@pytest.mark.parametrize("direction", sampled(DIRECTIONS, every=2))
def test_planning_and_joining_members(direction: str, grown_dataset: Grown, tmp_path: Path) -> None:
    def use(n: int) -> Callable[[], object]:
        base = grown_dataset(direction, n, 2)
        table, extra = tmp_path / f"{n}.csv", tmp_path / f"extra{n}"
        table.write_text("\n".join(["key,n", *(f"{key},1" for key in Dataset(base).keys)]))
        pack(table, extra, keys_of=base, jobs=1, overwrite=True, progress=False)
        members = LocalSource(str(table), table, tmp_path / "spool")

        def run() -> None:
            plan_members(members, *PackOptions().planning, QUIET, base)
            Dataset(base, join=extra).columns("label")

        return run

    assert_linear(use)


def test_verifying_samples_whose_keys_come_twice(grown_dataset: Grown, tmp_path: Path) -> None:
    def use(n: int) -> Callable[[], object]:
        twice = tmp_path / str(n)
        shutil.copytree(grown_dataset("shards", n, 2), twice, dirs_exist_ok=True)
        content = Manifest.load(twice)
        copies = [replace(shard, file=f"copy-{shard.file}") for shard in content.shards]
        for shard, copy in zip(content.shards, copies, strict=True):
            shutil.copy(twice / shard.file, twice / copy.file)
            shutil.copy(twice / shard.index, twice / copy.index)
        content = replace(content, shards=(*content.shards, *copies))
        (twice / "dataset.json").write_text(content.dump())

        def run() -> None:
            assert len(verify(twice, 1).damages) == 2 * n

        return run

    assert_linear(use, SIZE // 2)  # shards of 2 samples


@pytest.mark.parametrize("direction", sampled(DIRECTIONS, every=2))
def test_what_a_report_gathers(direction: str, grown_dataset: Grown) -> None:
    def use(n: int) -> Callable[[], object]:
        dataset = Dataset(grown_dataset(direction, n, 2))
        return lambda: gather(Finished(dataset.folder, dataset.folder))

    assert_linear(use)


def test_packing_and_finding_it_packed(tmp_path: Path) -> None:
    image, runs = encode(make_image(1, 16, 16), "PNG"), count()

    def use(n: int) -> Callable[[], object]:
        src, dst = tmp_path / f"images{n}", tmp_path / f"shards{next(runs)}"
        src.mkdir(exist_ok=True)
        for number in range(n):
            (src / f"{number:03d}.png").write_bytes(image)

        def run() -> None:
            for written in (n, 0):
                assert run_pack(src, dst, shard_samples=1).shards_written == written

        return run

    assert_linear(use)


@pytest.mark.parametrize("change", ["nothing", "the source", "the options, with --overwrite"])
def test_a_journal_that_is_begun_continued_and_committed(change: str, tmp_path: Path) -> None:
    runs = count()

    def use(n: int) -> Callable[[], object]:
        folder = tmp_path / str(next(runs))
        names = [f"split{at % 4}/shard-{at:06d}" for at in range(n)]
        splits = [f"split{at}" for at in range(4)]
        begun = Run({"seed": 0}, "source", "here", splits, {f"{name}.tar": "" for name in names})
        shards = {f"{name}.tar": str(at % 2) for at, name in enumerate(names)}
        again = {
            "nothing": begun,
            "the source": Run({"seed": 0}, "mended", "here", splits, shards),
            "the options, with --overwrite": Run({"seed": 1}, "source", "here", splits, shards),
        }[change]

        def run() -> None:
            with suppress(KeyboardInterrupt), Destination(folder).hold(begun, overwrite=False):
                for name in names:
                    (folder / name).parent.mkdir(exist_ok=True)
                    (folder / f"{name}.tar").write_bytes(b"tar")
                    (folder / f"{name}.safetensors").write_bytes(b"index")
                raise KeyboardInterrupt
            with Destination(folder).hold(again, overwrite="--overwrite" in change):
                Destination(folder).commit(Manifest("1", {}, "", ("cat",), ("cls", "jpg"), ()))

        return run

    assert_linear(use)


def test_a_journal_to_which_a_loop_adds_splits(tmp_path: Path) -> None:
    runs, begun = count(), Run({"seed": 0}, pushed=True)

    def use(n: int) -> Callable[[], object]:
        folder = tmp_path / str(next(runs))

        def run() -> None:
            with suppress(KeyboardInterrupt), Destination(folder).hold(begun, overwrite=False):
                for number in range(n):
                    Destination(folder).add_split(begun, f"split{number}", None)
                    shard = folder / f"split{number}" / "shard-000000.tar"
                    shard.parent.mkdir()
                    shard.write_bytes(b"tar")
                raise KeyboardInterrupt
            with Destination(folder).hold(begun, overwrite=False):
                assert not [*folder.rglob("*.tar")]

        return run

    assert_linear(use)
