from packer.planning.listing import Listing
from packer.planning.understood import told
from packer.sources.records import SourceSample


def test_images_without_a_member_that_others_have_are_counted() -> None:
    listing = Listing()
    for number, members in enumerate([("txt", "mask.png"), ("txt",), (), ("txt",)]):
        split = "train" if number else "val"
        listing.add(SourceSample(f"{number}.jpg", str(number), -1, 9, 0, members, split))
    assert told("YOLO, 80 names from data.yaml", listing, ("person", "bike", "car", "bus")) == (
        "Read as YOLO, 80 names from data.yaml: 4 images; 4 classes (person, bike, car, ...); "
        "splits train 3, val 1; members mask.png (3 images without), txt (1 image without)."
    )
