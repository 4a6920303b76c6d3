from pathlib import Path

from packer.plan.prepare import summary
from packer.plan.scan import Scanned
from packer.samples.places import Files
from packer.samples.records import Facts, Sample
from packer.samples.table import SampleTable


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
