"""What torchvision makes of a folder."""

import os
from collections.abc import Iterator
from pathlib import Path


def image_folder(root: Path) -> Iterator[tuple[str, int]]:
    """(name, label) of every file, by the rules of torchvision.datasets.ImageFolder."""
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    for label, name in enumerate(classes):
        for folder, _, files in sorted(os.walk(root / name, followlinks=True)):
            for file in sorted(files):
                yield os.path.relpath(os.path.join(folder, file), root), label
