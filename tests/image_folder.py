"""What torchvision makes of a folder."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image


def image_folder(root: Path) -> Iterator[tuple[str, int]]:
    """(name, label) of every file, by the rules of torchvision.datasets.ImageFolder."""
    classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
    for label, name in enumerate(classes):
        for folder, _, files in sorted(os.walk(root / name, followlinks=True)):
            for file in sorted(files):
                yield os.path.relpath(os.path.join(folder, file), root), label


class ImageFolder:
    """torchvision's, as far as it is used here."""

    def __init__(
        self,
        root: Path | str,
        transform: Callable[[Image.Image], Any] = Image.Image.copy,
        target_transform: Callable[[int], int] = int,
    ) -> None:
        found = [(os.path.join(root, name), label) for name, label in image_folder(Path(root))]
        self.samples = self.imgs = found
        self.targets = [label for _, label in found]
        self.classes = sorted(path.name for path in Path(root).iterdir())
        self.class_to_idx = {name: label for label, name in enumerate(self.classes)}
        self.transform, self.target_transform = transform, target_transform

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, number: int) -> tuple[Any, int]:
        path, label = self.samples[number]
        return self.transform(Image.open(path).convert("RGB")), self.target_transform(label)
