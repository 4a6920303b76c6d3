"""Food-101, as data.vision.ee.ethz.ch/cvl/datasets_extra/food-101 has it."""

from layouts.row import Read, Row

FILES = "images/apple_pie/1.jpg images/waffles/2.jpg README.txt license_agreement.txt"
LISTS = {
    "meta/classes.txt": "apple_pie\nwaffles\n",
    "meta/labels.txt": "Apple pie\nWaffles\n",
    "meta/train.txt": "apple_pie/1\n",
    "meta/test.txt": "waffles/2\n",
    "meta/train.json": '{"apple_pie": ["apple_pie/1"]}',
    "meta/test.json": '{"waffles": ["waffles/2"]}',
}
OTHERS = frozenset(
    {"README.txt", "license_agreement.txt", "meta/labels.txt", "meta/train.json", "meta/test.json"}
)

ROWS = [
    Row(
        "Food-101",
        FILES,
        Read(
            {"images/apple_pie/1": "apple_pie", "images/waffles/2": "waffles"},
            {"images/apple_pie/1": "train", "images/waffles/2": "test"},
            ignored=OTHERS,
            what="Food-101",
        ),
        contents=LISTS,
    ),
    Row(
        "Food-101 as its archive unpacks, with an image that is not listed and one that is missing",
        "food-101/images/apple_pie/1.jpg food-101/images/apple_pie/3.jpg README.md",
        Read(
            {"images/apple_pie/1": "apple_pie"},
            {"images/apple_pie/1": "train"},
            ignored=OTHERS - {"README.txt", "license_agreement.txt"} | {"../README.md"},
            rejected=frozenset({"images/waffles/2.jpg", "images/apple_pie/3.jpg"}),
            classes=("apple_pie", "waffles"),
        ),
        contents={f"food-101/{name}": text for name, text in LISTS.items()},
    ),
]
