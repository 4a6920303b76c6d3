"""What Python gives: datasets with a length, iterables, and the loops of a Writer."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

import packer
from freezing.material import images, jpeg, npy, png, write
from freezing.record import KEPT, USUAL, VERBATIM, Case


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


DICTS: list[dict[str, Any]] = [
    {"image": jpeg(n) if n % 2 else png(n), "label": n % 3, "key": f"some/{n}"}
    | {"json": {"n": n}, "caption.txt": f"number {n}", "depth": npy(n, 4, 5), "more": n}
    for n in range(8)
]
SPLITS = [{**item, "split": "val" if n % 4 == 3 else "train"} for n, item in enumerate(DICTS)]
PICTURES = [(Image.fromarray(npy(n, 9, 11)), "cat" if n else "dog") for n in range(4)]
MASKED = [{"image": npy(n, 9, 11, 3), "mask.png": npy(n + 5, 9, 11)} for n in range(4)]
TABLE = [{"photo": jpeg(n), "kind": n % 2, "label": "x", "other": n} for n in range(5)]


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
    "dicts": (lambda: DICTS, VERBATIM),
    "dicts, columns": (lambda: TABLE, VERBATIM | COLUMNS),
    "pictures": (lambda: PICTURES, NAMED),
    "masks": (lambda: MASKED, {}),
    "splits": (lambda: {"train": Numbered(), "val": Numbered(3)}, {}),
    "array": (lambda: npy(0, 5, 8, 8, 3), {}),
    "torch's subset": (_subset, {}),
    "iterable": (lambda: (item for item in SPLITS), VERBATIM),
    "iterable in shards": (lambda: (item for item in SPLITS), VERBATIM | {"shard_samples": 2}),
    "iterable, split by keys": (lambda: iter(DICTS), VERBATIM | {"split": {"a": 0.5, "b": 0.5}}),
    "iterable of pairs": (lambda: iter(PICTURES), NAMED),
}


def pack_dataset(make: Callable[[], Any], options: Mapping[str, Any], tmp: Path) -> Any:
    return packer.pack(make(), tmp / "dst", **{**USUAL, **options})


def paths(tmp: Path) -> Any:
    files = images("1.jpg 2.jpg 3.png")
    src = write(tmp / "src", files)
    items = [(src / name, number % 2) for number, name in enumerate(files)]
    return packer.pack(items, tmp / "dst", **VERBATIM)


def append_items(tmp: Path) -> Any:
    """Pack a dataset, then append the items behind those that are packed."""
    packer.pack(Numbered(4), tmp / "dst", **USUAL)
    return packer.pack(Numbered(9), tmp / "dst", append=True, **USUAL)


def loop(items: Callable[[], Any], options: Mapping[str, Any], tmp: Path) -> Any:
    with packer.Writer(tmp / "dst", **{"jobs": 1, "progress": False, **options}) as writer:
        for item in items():
            writer.write(item)
    return writer.report


def two_loops(tmp: Path) -> Any:
    loop(lambda: DICTS[:3], KEPT, tmp)
    return loop(lambda: DICTS[3:], {**KEPT, "append": True}, tmp)


LOOPS: Mapping[str, tuple[Callable[[], Any], Mapping[str, Any]]] = {
    "dicts": (lambda: DICTS, KEPT),
    "splits": (lambda: SPLITS, {**KEPT, "shard_samples": 2}),
    "pairs": (lambda: PICTURES, NAMED),
    "masks": (lambda: MASKED, {}),
    "columns": (lambda: TABLE, {**KEPT, **COLUMNS}),
    "raw": (lambda: PICTURES, {**NAMED, "raw": (6, 6)}),
    "quality": (lambda: PICTURES, {**NAMED, "quality": 60}),
    "split by keys": (lambda: DICTS, {**KEPT, "split": {"a": 0.5, "b": 0.5}}),
    "two threads": (lambda: DICTS, {**KEPT, "jobs": 2, "shard_samples": 3}),
}


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {
        f"python/{name}": partial(pack_dataset, *given) for name, given in DATASETS.items()
    }
    found |= {f"writer/{name}": partial(loop, *given) for name, given in LOOPS.items()}
    return found | {
        "python/paths": paths,
        "python/append": append_items,
        "writer/append": two_loops,
    }
