"""One packed dataset, and what is true of its samples."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from called_packer import call_packer

import packer
from crossing.scenes import CLASSES, Picture, Scene
from crossing.sources import Source
from packer.options.declared import OPTIONS
from reader import Dataset


class Refused(Exception):
    """The product refuses what it is asked, and says why."""


def words_of(given: Mapping[str, Any], root: Path) -> Iterator[str]:
    """Return options as the command line has them."""
    for name, value in given.items():
        option = OPTIONS[name]
        if isinstance(value, bool):
            yield option.flag if value else f"--no-{option.flag[2:]}"
        elif option.kind.is_repeated:
            is_named = isinstance(value, Mapping)
            for one in [f"{k}={v}" for k, v in value.items()] if is_named else value:
                yield from (option.flag, str(one))
        elif name == "classes" and not isinstance(value, str):
            (root / "classes.txt").write_text("\n".join(value))
            yield from (option.flag, str(root / "classes.txt"))
        else:
            yield from (option.flag, _text_of(name, value))


def _text_of(name: str, value: Any) -> str:
    if name == "split":
        return ",".join(f"{split}={share}" for split, share in value.items())
    if name == "raw":
        return "{}x{}".format(*value)
    return ",".join(value) if name == "columns" else str(value)


def run_packer(*words: object, codes: Sequence[int] = (0,)) -> str:
    done = call_packer(*words)
    if done.returncode == 2:
        raise Refused(done.stderr)
    assert done.returncode in codes, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


@dataclass
class World:
    root: Path
    source: Source
    picture: Picture
    option: str
    scenes: list[Scene]  # that the dataset has
    classes: Sequence[str] = ()  # if dataset.json has none
    boxes: Mapping[str, Any] = field(default_factory=dict)  # what Boxes() needs to be told
    join: Any = None
    is_scaled: bool = False  # packing changes the sizes of pictures
    is_cut: bool = False  # packing crops pictures

    def __post_init__(self) -> None:
        self.dst = self.root / "dst"
        self.place = self.make(self.scenes)
        self.boxes = dict(self.source.boxes)

    def make(self, scenes: Sequence[Scene]) -> Any:
        shutil.rmtree(self.root / "src", ignore_errors=True)
        return self.source.make(self.root / "src", scenes, self.picture)

    @property
    def is_path(self) -> bool:
        return isinstance(self.place, (Path, str))

    def pack(self, *words: str, codes: Sequence[int] = (0,), dst: Any = None, **given: Any) -> Any:
        """Pack the source; `words` are options of the command line alone."""
        dst = dst or self.dst
        given = {**self.source.needed(self.root / "src"), **given}
        if "images" in given:  # which says the layout
            given = {k: v for k, v in given.items() if k not in ("class_depth", "kind")}
        if self.is_path:
            typed = words_of({"jobs": 1, **given}, self.root)
            return run_packer("pack", self.place, dst, *typed, *words, codes=codes)
        if self.source.how != "map" or "split" not in self.source.holds:
            given.setdefault("classes", CLASSES)
        given = {"progress": False, "jobs": 1, "classes": CLASSES, **given}
        try:
            if self.source.how != "writer":
                return packer.pack(self.place(), dst, **given)
            with packer.Writer(dst, **given) as writer:
                for item in self.place():
                    writer.write(item)
            return writer.report
        except packer.ShardfeedError as error:
            raise Refused(str(error)) from error

    def open(self, **given: Any) -> Dataset:
        return Dataset(given.pop("folder", self.dst), join=self.join, **given)

    def names_of(self, dataset: Dataset) -> list[str]:
        """Return the names of the classes, which some sources only number."""
        return self.named(dataset.classes)

    def named(self, names: Sequence[str]) -> list[str]:
        known = self.classes or CLASSES
        return [known[int(name)] if name.isdigit() else name for name in names or self.classes]

    def copy(self, name: str) -> Path:
        """Return a copy of the dataset, to be damaged."""
        return Path(shutil.copytree(self.dst, self.root / name, dirs_exist_ok=True))


Step = Callable[[World], None]
