"""What Python gives: datasets with a length, iterables, and the loops of a Writer."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

import packer
from freezing.material import images, jpeg, npy, png, write
from freezing.record import Case, Record, record
from freezing.rows import USUAL, VERBATIM


class Numbered:
    """A map-style dataset with classes, as torchvision's are."""

    classes = ("cat", "dog", "owl")

    def __init__(self, length: int = 7) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> tuple[Any, int]:
        if not 0 <= number < self._length:
            raise IndexError(number)
        return npy(number, 12 + number, 16, 3), number % 3


def _dicts() -> list[dict[str, Any]]:
    return [
        {
            "image": jpeg(n) if n % 2 else png(n),
            "label": n % 3,
            "key": f"some/{n}",
            "json": {"n": n},
            "caption.txt": f"number {n}",
            "depth": npy(n, 4, 5),
            "more": n,
        }
        for n in range(8)
    ]


def _pictures() -> list[Any]:
    return [(Image.fromarray(npy(n, 9, 11)), "cat" if n else "dog") for n in range(4)]


def _masked() -> list[dict[str, Any]]:
    return [{"image": npy(n, 9, 11, 3), "mask.png": npy(n + 5, 9, 11)} for n in range(4)]


def _in_turn() -> Iterator[dict[str, Any]]:
    for number, item in enumerate(_dicts()):
        yield {**item, "split": "val" if number % 4 == 3 else "train"}


def _columns() -> list[dict[str, Any]]:
    return [{"photo": jpeg(n), "kind": n % 2, "label": "x", "other": n} for n in range(5)]


def _subset() -> Any:
    from torch.utils.data import Subset

    return Subset(Numbered(), [5, 1, 3])  # type: ignore[arg-type]


NAMED = {"classes": ["dog", "cat"]}
COLUMNS = {"image_column": "photo", "label_column": "kind"}
DATASETS: Mapping[str, tuple[Callable[[], Any], Mapping[str, Any]]] = {
    "map-style": (Numbered, {}),
    "map-style, verbatim": (Numbered, VERBATIM),
    "map-style in shards": (partial(Numbered, 20), {"shard_samples": 6, "shuffle": False}),
    "map-style, jobs 2": (partial(Numbered, 20), {"shard_samples": 6, "jobs": 2}),
    "map-style, split": (partial(Numbered, 20), {"split": {"a": 0.5, "b": 0.5}}),
    "map-style, quality": (Numbered, {"quality": 80, "max_side": 10}),
    "map-style, raw": (Numbered, {"raw": (8, 8)}),
    "dicts": (_dicts, VERBATIM),
    "dicts, columns": (_columns, VERBATIM | COLUMNS),
    "pictures": (_pictures, NAMED),
    "masks": (_masked, {}),
    "splits": (lambda: {"train": Numbered(), "val": Numbered(3)}, {}),
    "array": (lambda: npy(0, 5, 8, 8, 3), {}),
    "torch's subset": (_subset, {}),
    "iterable": (_in_turn, VERBATIM),
    "iterable in shards": (_in_turn, VERBATIM | {"shard_samples": 2}),
    "iterable, split by keys": (lambda: iter(_dicts()), VERBATIM | {"split": {"a": 0.5, "b": 0.5}}),
    "iterable of pairs": (lambda: iter(_pictures()), NAMED),
}


def pack_dataset(make: Callable[[], Any], options: Mapping[str, Any], tmp: Path) -> Record:
    """Pack what Python has."""
    given = {**USUAL, **options}
    return record(tmp / "dst", lambda: packer.pack(make(), tmp / "dst", **given))


def paths(tmp: Path) -> Record:
    """Pack a list of paths with labels."""
    files = images("1.jpg 2.jpg 3.png")
    src = write(tmp / "src", files)
    items = [(src / name, number % 2) for number, name in enumerate(files)]
    return record(tmp / "dst", lambda: packer.pack(items, tmp / "dst", **VERBATIM))


def append_items(tmp: Path) -> Record:
    """Pack a dataset, then append the items behind those that are packed."""

    def run() -> Any:
        packer.pack(Numbered(4), tmp / "dst", **USUAL)
        return packer.pack(Numbered(9), tmp / "dst", append=True, **USUAL)

    return record(tmp / "dst", run)


def loop(items: Callable[[], Any], options: Mapping[str, Any], tmp: Path) -> Record:
    """Write items in a loop."""

    def run() -> Any:
        given = {"jobs": 1, "progress": False, **options}
        with packer.Writer(tmp / "dst", **given) as writer:
            for item in items():
                writer.write(item)
        return writer.report

    return record(tmp / "dst", run)


def two_loops(tmp: Path) -> Record:
    """Write items in a loop, then append others."""
    kept: dict[str, Any] = {"jobs": 1, "progress": False, "jpeg": "verbatim", "png": "verbatim"}

    def run() -> Any:
        with packer.Writer(tmp / "dst", **kept) as writer:
            for item in _dicts()[:3]:
                writer.write(item)
        with packer.Writer(tmp / "dst", append=True, **kept) as writer:
            for item in _dicts()[3:]:
                writer.write(item)
        return writer.report

    return record(tmp / "dst", run)


def cases() -> dict[str, Case]:
    """Return the cases by name."""
    found: dict[str, Case] = {
        f"python/{name}": partial(pack_dataset, make, options)
        for name, (make, options) in DATASETS.items()
    }
    kept: dict[str, Any] = {"jpeg": "verbatim", "png": "verbatim"}
    return found | {
        "python/paths": paths,
        "python/append": append_items,
        "writer/dicts": partial(loop, _dicts, kept),
        "writer/splits": partial(loop, _in_turn, {**kept, "shard_samples": 2}),
        "writer/pairs": partial(loop, _pictures, NAMED),
        "writer/masks": partial(loop, _masked, {}),
        "writer/columns": partial(loop, _columns, {**kept, **COLUMNS}),
        "writer/raw": partial(loop, _pictures, {**NAMED, "raw": (6, 6)}),
        "writer/quality": partial(loop, _pictures, {**NAMED, "quality": 60}),
        "writer/split by keys": partial(loop, _dicts, {**kept, "split": {"a": 0.5, "b": 0.5}}),
        "writer/two threads": partial(loop, _dicts, {**kept, "jobs": 2, "shard_samples": 3}),
        "writer/append": two_loops,
    }
