"""Metadata of libraries' datasets, such as class names; imports none of these libraries."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import index
from typing import Any

from packer.errors import UnusableInput
from packer.sources.scanners.python.values import described

_MOST_CLASSES = 1 << 20
_LIBRARIES = ("torch", "torchvision", "numpy", "datasets")


@dataclass(frozen=True)
class Known:
    """A dataset, and its metadata."""

    dataset: Any  # as it is to be read: where its images are files, it gives these
    what: str  # for a person
    classes: tuple[str, ...] = ()  # by their numbers; "" for a number that none has
    doubt: str = ""  # why the names of its numbers are unknown
    image: str = ""  # the field that is declared as such
    label: str = ""  # likewise
    fingerprint: str = ""  # of all that it holds, where it keeps one


def know(dataset: Any, image: str | None = None, label: str | None = None) -> Known:
    """Return what is known of a dataset; `image` and `label` are the chosen fields."""
    if way := _way_to_samples(dataset, image or "image"):
        raise UnusableInput(f"The items of {described(dataset)} are not samples: {way}.")
    kind = type(dataset)
    library = kind.__module__.partition(".")[0]
    what = f"{library}'s {kind.__name__}" if library in _LIBRARIES else described(dataset)
    known = Known(dataset, what, *_numbered(dataset))
    if _is(dataset, "datasets", "Dataset") or _is(dataset, "datasets", "IterableDataset"):
        known = replace(known, what=f"Hugging Face's {kind.__name__}")
        return _of_hugging_face(known, image, label)
    if _is(dataset, "torch.utils.data", "Subset"):
        inner = know(dataset.dataset, image, label)
        is_plain = _reads_as(dataset, "Subset")
        part = type(dataset)(inner.dataset, dataset.indices) if is_plain else dataset
        return replace(inner, dataset=part, what=f"a part of {inner.what}", fingerprint="")
    if _is(dataset, "torch.utils.data", "ConcatDataset"):
        return _of_several(known, [know(part, image, label) for part in dataset.datasets])
    if _gives_files(dataset):
        return replace(known, dataset=list(dataset.samples), what=f"the files of {what}")
    return known


def _way_to_samples(dataset: Any, image: str) -> str:
    if _is(dataset, "pandas", "DataFrame"):
        return 'give frame.to_dict("records")'
    if _is(dataset, "torch.utils.data", "DataLoader"):
        return "give its dataset, loader.dataset"
    if isinstance(dataset, Mapping) and image in dataset:
        return "a dict has a dataset for each split. For columns give list(zip(images, labels))"
    return ""


def _is(dataset: Any, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(dataset, kind)


def _classes(names: Any) -> tuple[str, ...]:
    if not isinstance(names, Sequence) or isinstance(names, str):
        return ()
    different = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return tuple(names) if different else ()


def _numbered(dataset: Any) -> tuple[tuple[str, ...], str]:
    """Return the class names by their numbers, as `class_to_idx` has them, and what contradicts."""
    names = _classes(getattr(dataset, "classes", None))
    numbers: dict[str, int] = {}
    with suppress(AttributeError, TypeError, ValueError):
        numbers = {str(name): index(n) for name, n in dataset.class_to_idx.items()}
    if all(numbers.get(name, at) == at for at, name in enumerate(names)):
        return names, ""
    by_number = {number: name for name, number in numbers.items()}
    is_whole = len(by_number) == len(numbers) and numbers.keys() >= set(names)
    if is_whole and min(by_number) >= 0 and max(by_number) < _MOST_CLASSES:
        return tuple(by_number.get(number, "") for number in range(max(by_number) + 1)), ""
    return (), (
        f"The class_to_idx of {described(dataset)} contradicts its classes: {dict(numbers)!r:.200}."
        " Pass the name of each number in order: classes=[...]."
    )


def _of_several(known: Known, parts: Sequence[Known]) -> Known:
    """Return what is known of a ConcatDataset."""
    classes = {part.classes for part in parts}
    if len(classes) > 1 and all(classes):
        raise UnusableInput(
            f"The parts of {known.what} have different classes, so that a number means several: "
            f"{' and '.join(str([*filter(None, names)])[:99] for names in classes)}. Pack each "
            "part, and read them together: reader.Mix([reader.Dataset(first), ...]) joins classes "
            "by name."
        )
    fields = {(part.image, part.label) for part in parts}
    image, label = fields.pop() if len(fields) == 1 else ("", "")
    dataset = known.dataset
    if _reads_as(dataset, "ConcatDataset"):
        dataset = type(dataset)([part.dataset for part in parts])
    what = " and ".join(dict.fromkeys(part.what for part in parts))
    doubt = next((part.doubt for part in parts if part.doubt), "")
    names = classes.pop() if len(classes) == 1 else ()
    return Known(dataset, f"{len(parts)} parts: {what}", names, doubt, image, label)


def _reads_as(dataset: Any, kind: str) -> bool:
    """Whether a wrapper of torch's gives the items unchanged: no method of its own reads them."""
    torchs = getattr(sys.modules["torch.utils.data"], kind)
    return type(dataset).__init__ is torchs.__init__ and all(
        getattr(type(dataset), name, None) is getattr(torchs, name, None)
        for name in ("__getitem__", "__getitems__")
    )


def _gives_files(dataset: Any) -> bool:
    """Return whether its items are only its decoded files: an ImageFolder without transforms."""
    folder = sys.modules.get("torchvision.datasets.folder")
    if folder is None or not isinstance(dataset, folder.DatasetFolder):
        return False
    plain = type(dataset).__getitem__ is folder.DatasetFolder.__getitem__
    transforms = (dataset.transform, dataset.target_transform)
    return plain and transforms == (None, None) and dataset.loader is folder.default_loader


def _of_hugging_face(known: Known, image: str | None, label: str | None) -> Known:
    dataset, features = known.dataset, known.dataset.features or {}
    kinds = {name: type(feature).__name__ for name, feature in features.items()}
    images = [name for name, kind in kinds.items() if kind == "Image"]
    labels = [name for name, kind in kinds.items() if kind == "ClassLabel"]
    image = image or _one(images, "image", "images", "image_column=") or ""
    label = label or _one(labels, "label", "labels", "label_column=") or ""
    label = label or ("label" if "label" in features else "")
    names = getattr(features.get(label), "names", None)
    made = dataset._formatting if hasattr(dataset, "_formatting") else dataset.format["type"]
    for name in images:
        feature = features[name]
        if made is None and feature.decode and feature.mode is None:
            dataset = dataset.cast_column(name, type(feature)(decode=False))
    fingerprint = getattr(known.dataset, "_fingerprint", "")
    return Known(dataset, known.what, _classes(names), "", image, label, fingerprint)


def _one(names: Sequence[str], usual: str, what: str, option: str) -> str | None:
    if len(names) > 1 and usual not in names:
        raise UnusableInput(
            f"The dataset declares several {what}: {', '.join(map(repr, names))}. Choose one "
            f"with {option}."
        )
    return usual if usual in names else next(iter(names), None)


def is_map_style(source: Any) -> bool:
    """Return whether it has __len__ and __getitem__, and is not an iterable dataset."""
    has_items = hasattr(source, "__getitem__") and hasattr(source, "__len__")
    return has_items and not _is(source, "torch.utils.data", "IterableDataset")


def parts_of(source: Any, image: str) -> dict[str, Any]:
    """Return the datasets of a dict of splits; otherwise the only one, without a split."""
    is_split = isinstance(source, Mapping) and not _way_to_samples(source, image)
    return dict(source) if is_split else {"": source}
