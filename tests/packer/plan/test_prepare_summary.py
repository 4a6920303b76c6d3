import re

import pytest

from packer.plan.prepare import label_remarks, summary
from packer.samples.records import Facts, Sample
from packer.samples.table import SampleTable


def test_images_without_a_member_that_others_have_are_counted() -> None:
    listing = SampleTable()
    for number, members in enumerate([("txt", "mask.png"), ("txt",), (), ("txt",)]):
        split = "train" if number else "val"
        listing.add(Sample(f"{number}.jpg", str(number), -1, 9, 0, members, split))
    assert summary(
        "YOLO, 80 names from data.yaml", listing, ("person", "bike", "car", "bus"), Facts()
    ) == (
        "Read as YOLO, 80 names from data.yaml: 4 images; 4 classes (person, bike, car, ...); "
        "splits train 3, val 1; members mask.png (3 images without), txt (1 image without)."
    )


@pytest.mark.parametrize(
    ("labels", "classes", "told"),
    [
        ([1, 1, 3, -1], "0123", "No sample has the label 0, 2: .* 4 in all"),
        ([1, 1, 3, -1], "abcd", None),
        ([0, 1, 2], "012", None),
        ([*range(12), 0], "abcdefghijkl", "11 of 12 classes have a single sample: "),
        ([*range(9), 0], "abcdefghi", None),
        ([-1], "012", None),
    ],
)
def test_labels_that_may_be_no_classes_are_doubted(
    labels: list[int], classes: str, told: str | None
) -> None:
    listing = SampleTable()
    for number, label in enumerate(labels):
        listing.add(Sample(f"{number}.jpg", str(number), label, 9, 0))
    found = list(label_remarks(listing, tuple(classes)))
    assert bool(found) == bool(told)
    assert not told or re.match(told, found[0])
