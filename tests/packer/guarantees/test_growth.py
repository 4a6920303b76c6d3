"""Recognition, scan and plan take at most twice the work for twice the source, counted.

`growth` says what is counted and what is not seen. Each kind of source grows in each direction in
which it may be large; each row of `layouts` in its images and, where folders are classes, in these.
"""

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import growth
import pytest
from layouts.archives import image
from layouts.grown import DIRECTIONS
from layouts.kinds import KINDS, Kind
from layouts.row import Row
from layouts.scanned import ROWS, lay_out
from sampled import sampled

from packer.errors import UnusableInput
from packer.options.declared import PYTHON, PackOptions, SourceOptions
from packer.plan.prepare import prepare
from packer.plan.work import Work, digests, outline, shard_job, tars
from packer.progress import Progress
from packer.samples.labels import class_order
from packer.sources.audit import copies
from packer.sources.scanners.python.dataset import opened
from packer.sources.trees.shape import Shape
from packer.storage.source import LocalSource

# Copies that are not read: their lists are binary (`KINDS` has such), or do not name the folder.
OTHER_LAYOUTS = {("GTSRB", "images"), ("GTSRB", "classes")}  # with copies of its tables
NOT_GROWN = {
    ("a train among cars", "classes"),  # train1000 would be a split
    ("ImageFolder with metadata.parquet", "images"),
    ("GTSRB: folders of classes, and tables that name their images", "classes"),
    ("MVTec AD, one object", "classes"),
    ("classes mask and no_mask", "classes"),  # mask1000 would be a mask
    ("ImageNet with its devkit", "classes"),
    ("ImageNet as Kaggle has it", "classes"),
    ("Oxford 102 Flowers", "images"),
    ("Stanford Cars", "images"),
    ("Stanford Dogs", "images"),
    ("Stanford Dogs", "classes"),
    ("CVAT for images: boxes, a polygon, a tag, subsets", "images"),  # records of several lines
    ("WIDER FACE", "images"),
    # The test has classes that train lacks.
    ("train, dev and test", "images"),
    ("train, dev and test", "classes"),
    ("valid and testing", "images"),
    ("valid and testing", "classes"),
    # Copies have the same numbers in each folder, as parts of samples have.
    ("ChestX-ray14: labels with | between, images in numbered folders", "images"),
}

Run = Callable[[], Work | None]


@pytest.fixture(autouse=True)
def no_pictures_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare no pictures of two classes: at most a constant number is, and sizes repeat by chance.

    Copies of a layout have the same pictures in other classes.
    """
    monkeypatch.setattr(copies, "_in_several", lambda outcome: ([], 0))


def planning(row: Row, folder: Path, plan: Mapping[str, Any] = {}) -> Run:
    """Return what plans the packing of a row; None if it is refused."""
    src = lay_out(row, folder)
    given = LocalSource(str(src), src, folder / "made")
    options = PackOptions(source=SourceOptions(**row.options), **plan)

    def run() -> Work | None:
        try:
            work = prepare(given, *options.planning, Progress(quiet=True))
        except UnusableInput:
            return None
        digests(work)
        outline(work, folder / "dst")
        for number, tar in enumerate(tars(work, folder / "dst")):
            shard_job(work, tar, work.plan.shard(number))
        return work

    return run


def grown_kind(kind: Kind, folder: Path, *, allocations: bool = True) -> growth.Growth:
    """Count the work for `growth.SIZE` and twice as many of a kind of source."""
    numbers = itertools.count()

    def make(size: int) -> Run:
        run = planning(kind.row(size), folder / str(next(numbers)), kind.plan)

        def planned() -> Work:
            work = run()
            assert work is not None
            return work

        return planned

    return growth.grown(make, allocations=allocations)


def grown_row(row: Row, direction: str, folder: Path, n: int = 3) -> tuple[growth.Growth, bool]:
    """Count the work for n and 2n copies of what is in a row, and tell whether all were read."""
    works: list[growth.Work] = []
    samples: list[int] = []

    for size in (n, 2 * n):
        here = folder / str(size)
        here.mkdir()
        os.chdir(here)  # some options name a folder beside the source
        run, done = planning(DIRECTIONS[direction](row, size), here / "src"), list[Work | None]()
        works.append(
            growth.counted(lambda run=run, done=done: done.append(run()), allocations=False)
        )
        samples += [len(work.scanned.listing) if work else 0 for work in done]
    is_refused = isinstance(row.expected, str) and samples == [0, 0]
    return growth.Growth(n, *works), is_refused or samples[1] >= 1.7 * samples[0] > 0


def rows_that_grow() -> Iterator[tuple[Row, str]]:
    """Yield the rows with the directions in which they have something to repeat."""
    for row in ROWS:
        for direction, more in DIRECTIONS.items():
            if more(row, 2) != row and (row.name, direction) not in OTHER_LAYOUTS:
                yield row, direction


def place(sentence: str) -> str:
    """The line of code that grew, or nothing where all calls together did."""
    return "" if "calls for" in sentence else sentence.split(" ")[0]


@pytest.mark.parametrize("allocations", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "kind", sampled(KINDS, every=5), ids=lambda kind: f"{kind.source}: {kind.direction}"
)
def test_twice_a_source_takes_at_most_twice_the_work(
    kind: Kind, allocations: bool, tmp_path: Path
) -> None:
    assert list(grown_kind(kind, tmp_path, allocations=allocations).excess()) == []


@pytest.mark.parametrize(
    ("row", "direction"),
    [  # what one module recognises lies beside each other, so that some have some of each
        pytest.param(*grows, marks=pytest.mark.slow if number % 30 else ())
        for number, grows in enumerate(rows_that_grow())
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_twice_a_layout_takes_at_most_twice_the_work(
    row: Row, direction: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found, is_read = grown_row(row, direction, tmp_path)
    lines, faster = list(found.excess()), set(map(place, found.excess()))
    for n in (6, 12) if faster else ():  # or a rule applies from some size on
        if lines:
            (tmp_path / f"larger{n}").mkdir()
            found, _ = grown_row(row, direction, tmp_path / f"larger{n}", n=n)
            lines = [line for line in found.excess() if place(line) in faster]
    assert lines == []
    assert is_read == ((row.name, direction) not in NOT_GROWN)


@pytest.mark.parametrize("splits", [False, True], ids=["items", "splits"])
def test_twice_a_python_dataset_takes_at_most_twice_the_work(splits: bool) -> None:
    def make(n: int) -> Run:
        items = [{"image": image(number), "label": number % 3} for number in range(n)]
        dataset = {f"part{number}": [item] for number, item in enumerate(items)}
        options = PackOptions(source=SourceOptions(kind=PYTHON))

        def run() -> Work:
            given = opened(
                dataset if splits else items, options.source, options.policy, alone=True, far=False
            )
            with given as reading:
                source = LocalSource("items", None, Path("nothing is made"), items=reading)
                return prepare(source, *options.planning, Progress(quiet=True))

        return run

    growth.assert_linear(make)


@pytest.mark.parametrize("work", ["a loop", "a copy"])
def test_work_for_all_that_is_done_for_each_is_found(work: str) -> None:
    def make(n: int) -> Callable[[], object]:
        names = [f"class{number:03}" for number in range(n)]
        shape = Shape({"": 0} | dict.fromkeys(names, 1))
        done = {
            "a loop": lambda _: shape.with_images(""),
            "a copy": lambda _: class_order("it", names, None),
        }
        return lambda: deque(map(done[work], names), maxlen=0)

    with pytest.raises(
        AssertionError, match=r"(?s)the work grows faster than its input:.*(shape|labels)\.py"
    ):
        growth.assert_linear(make)
