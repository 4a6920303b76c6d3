from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from packer.options.declared import PYTHON, PackOptions
from packer.plan.prepare import prepare, summary
from packer.plan.scan import Scanned
from packer.progress import Progress
from packer.samples.places import Files
from packer.samples.records import Facts, Sample
from packer.samples.table import SampleTable
from packer.sources.interpretation import Interpretation
from packer.storage.source import LocalSource


def test_images_without_a_member_that_others_have_are_counted() -> None:
    listing = SampleTable()
    for number, members in enumerate([("txt", "mask.png"), ("txt",), (), ("txt",)]):
        split = "train" if number else "val"
        listing.add(Sample(f"{number}.jpg", str(number), -1, 9, 0, members, split))
    classes = ("person", "bike", "car", "bus")
    scanned = Scanned(Facts(), Files(Path("images")), listing, classes, "")
    assert summary("YOLO, 80 names from data.yaml", scanned) == (
        "Read as YOLO, 80 names from data.yaml: 4 images; 4 classes (person, bike, car, ...); "
        "splits train 3, val 1; members mask.png (3 images without), txt (1 image without)."
    )


@dataclass
class Listed:
    """A source of one image."""

    classes: tuple[str, ...]
    files = Files(Path("images"))
    facts = Facts()

    def scan(self) -> Iterator[Sample]:
        yield Sample("1.jpg", "1", 0, 9, 0)


@pytest.mark.parametrize(("classes", "times"), [(("1", "2"), 1), (("10", "9"), 2)])
def test_a_source_is_opened_again_only_for_another_order_of_classes(
    classes: tuple[str, ...], times: int, tmp_path: Path
) -> None:
    orders = []

    def opening(order: Sequence[str] | None) -> Listed:
        orders.append(order)
        return Listed(tuple(order or classes))

    given = LocalSource("items", None, tmp_path, items=Interpretation(PYTHON, "items", opening))
    work = prepare(given, *PackOptions().planning, Progress(quiet=True), "numeric")
    assert work.scanned.classes == tuple(sorted(classes, key=int))
    assert len(orders) == times
