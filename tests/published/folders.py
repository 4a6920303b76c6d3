"""Folders of classes, by which the harness itself is tried."""

from published.row import Layout
from published.words import labelled

LAYOUTS = [
    Layout(
        "folders: class folders in splits",
        "https://pytorch.org/vision/stable/generated/torchvision.datasets.ImageFolder.html",
        {
            f"{split}/{name}/{number}.jpg": ""
            for split in ("train", "val")
            for name in ("cat", "dog")
            for number in (1, 2)
        },
        {
            f"{split}/{name}/{number}.jpg": labelled(name, split=split)
            for split in ("train", "val")
            for name in ("cat", "dog")
            for number in (1, 2)
        },
    ),
]
