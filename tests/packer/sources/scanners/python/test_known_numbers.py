"""Class names by their numbers, and datasets of torch's that join or choose from others."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from image_folder import ImageFolder
from PIL import Image
from torch.utils.data import ConcatDataset, Subset

import packer
import reader
from packer.errors import UnusableInput

NAMES = ["ant", "bee", "cow"]


class Numbered:
    """Items whose colour is their number; a label for each."""

    def __init__(
        self,
        class_to_idx: Any = None,
        labels: tuple[int, ...] = (0, 1, 2, 0, 1, 2),
        classes: Any = NAMES,
    ) -> None:
        self.classes, self.labels = classes, labels
        if class_to_idx is not None:
            self.class_to_idx = class_to_idx

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, number: int) -> tuple[Image.Image, int]:
        return Image.new("RGB", (8, 8), (number * 9, 0, 0)), self.labels[number]


def pack(src: Any, dst: Path, **options: Any) -> reader.Dataset:
    packer.pack(src, dst, **{"jobs": 1, "progress": False, "jpeg": "verbatim", **options})
    return reader.Dataset(dst)


def named(dataset: reader.Dataset) -> list[str]:
    """The class of each item."""
    order = sorted(range(len(dataset)), key=lambda row: dataset.keys[row].rpartition("/")[2])
    return [dataset.classes[dataset.targets[row]] for row in order]


@pytest.mark.parametrize(
    ("numbers", "labels", "expected"),
    [
        ({"ant": 0, "bee": 1, "cow": 2}, (0, 1, 2), NAMES),
        ({"ant": 2, "bee": 1, "cow": 0}, (0, 1, 2), NAMES[::-1]),
        ({"cow": 0, "ant": 1, "bee": 2}, (0, 1, 2), ["cow", "ant", "bee"]),
        ({"ant": 1, "bee": 2, "cow": 3}, (1, 2, 3), NAMES),  # not from 0
        ({"ant": 7, "bee": 1, "cow": 44}, (1, 7, 44), ["bee", "ant", "cow"]),
        ({"ant": 2, "bee": 1, "cow": 0, "dog": 3}, (0, 1, 2, 3), ["cow", "bee", "ant", "dog"]),
        ({"ant": 0, "bee": 1}, (0, 1, 2), NAMES),  # it lacks one, and the others agree
        ({}, (0, 1, 2), NAMES),
        ("no dict", (0, 1, 2), NAMES),
    ],
)
def test_names_follow_class_to_idx(
    tmp_path: Path, numbers: Any, labels: tuple[int, ...], expected: list[str]
) -> None:
    packed = pack(Numbered(numbers, labels), tmp_path / "dst")
    assert named(packed) == expected


@pytest.mark.parametrize(
    "numbers",
    [
        {"ant": 0, "bee": 0, "cow": 1},
        {"ant": 1, "bee": 0},
        {"ant": -1, "bee": 0, "cow": 1},
        {"ant": 1, "bee": 2, "cow": 1 << 40},
    ],
)
def test_a_class_to_idx_that_contradicts_the_classes_is_refused_until_they_are_given(
    tmp_path: Path, numbers: dict[str, int]
) -> None:
    with pytest.raises(UnusableInput, match=r"class_to_idx .* contradicts .* classes=\[...\]"):
        pack(Numbered(numbers), tmp_path / "dst")
    given = pack(Numbered(numbers), tmp_path / "dst", classes=["x", "y", "z"])
    assert named(given) == ["x", "y", "z"] * 2


def test_a_label_whose_number_no_class_has_is_rejected(tmp_path: Path) -> None:
    report = packer.pack(
        Numbered({"ant": 1, "bee": 2, "cow": 3}, (1, 0, 3)),
        tmp_path / "dst",
        jobs=1,
        progress=False,
        on_error="skip",
    )
    assert "its label, 0, is none of the 3 classes" in str(report)


def test_parts_of_one_dataset_keep_its_classes(tmp_path: Path) -> None:
    numbers = {"ant": 2, "bee": 1, "cow": 0}
    whole = ConcatDataset([Numbered(numbers), Subset(Numbered(numbers), [4, 0])])  # type: ignore[list-item]
    packed = pack(
        Subset(ConcatDataset([whole, Numbered(numbers)]), range(1, 10)),
        tmp_path / "dst",
        shuffle=False,
    )
    assert packed.classes == NAMES[::-1]
    assert packed.targets == [1, 2, 0, 1, 2, 1, 0, 0, 1]


def test_parts_with_other_classes_are_refused_with_a_way(tmp_path: Path) -> None:
    parts = [Numbered(), Numbered(classes=["bee", "ant", "cow"])]
    with pytest.raises(UnusableInput, match=r"different classes.*reader\.Mix"):
        pack(ConcatDataset(parts), tmp_path / "dst")  # type: ignore[arg-type]
    packed = pack(ConcatDataset([Numbered(), Numbered(classes=None)]), tmp_path / "dst")  # type: ignore[list-item]
    assert packed.classes == ["0", "1", "2"]  # numbers


@pytest.fixture
def folders(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> list[Any]:
    """Two folders of torchvision's kind, each of two classes."""

    class DatasetFolder(ImageFolder):
        def __init__(self, root: Path) -> None:
            super().__init__(root)
            self.transform = self.target_transform = None  # type: ignore[assignment]
            self.loader = module.default_loader  # type: ignore[attr-defined]

    module = ModuleType("torchvision.datasets.folder")
    vars(module).update(DatasetFolder=DatasetFolder, default_loader=Image.open)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for folder in "xy":
        for number in range(4):
            path = tmp_path / folder / "ab"[number % 2] / f"{number}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode(make_image(ord(folder) + number, 20, 24), "JPEG"))
    return [DatasetFolder(tmp_path / folder) for folder in "xy"]


def test_joined_and_chosen_image_folders_keep_classes_and_the_bytes_of_files(
    tmp_path: Path, folders: list[Any]
) -> None:
    first, second = folders
    source = ConcatDataset([Subset(first, [3, 0]), ConcatDataset([second, first])])
    files = [*(first.samples[number] for number in (3, 0)), *second.samples, *first.samples]
    packed = pack(source, tmp_path / "dst", shuffle=False)
    assert packed.classes == ["a", "b"]
    assert packed.targets == [label for _, label in files]
    assert [bytes(packed.read(row, "jpg")) for row in range(10)] == [
        Path(path).read_bytes() for path, _ in files
    ]


def test_a_wrapper_that_changes_items_is_read_through_its_own_method(
    tmp_path: Path, folders: list[Any]
) -> None:
    class Grey(Subset):  # type: ignore[type-arg]
        def __getitem__(self, number: int) -> Any:  # type: ignore[override]
            return Image.new("L", (8, 8)), 1

        def __getitems__(self, numbers: list[int]) -> Any:
            return [self[number] for number in numbers]

    packed = pack(Grey(folders[0], [0, 1]), tmp_path / "dst")
    assert (packed.classes, packed.targets) == (["a", "b"], [1, 1])
