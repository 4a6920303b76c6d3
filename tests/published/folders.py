"""Folders of classes, by which the harness itself is tried."""

from published.row import Layout
from published.words import labelled, plain

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
    # Its message prints a command, which must be one that a shell reads right.
    Layout(
        "folders: texts in a folder of their own, below one with a space in its name",
        "https://github.com/rom1504/img2dataset",
        {f"my data/images/{number}.jpg": "" for number in range(1, 7)}
        | {f"my data/captions/{number}.txt": f"caption {number}." for number in range(1, 7)},
        {f"my data/images/{number}.jpg": plain("", f"caption {number}.") for number in range(1, 7)},
    ),
]
