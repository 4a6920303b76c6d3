"""A tree of folders: where its images lie, and which folders only describe others (pure)."""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

IMAGES = frozenset(
    {"image", "images", "img", "imgs", "jpegimages", "leftimg8bit", "rgb", "frames", "photos"}
    | {"pictures", "jpg", "jpeg", "jpegs", "png", "pngs", "input", "inputs", "imagery", "image2"}
)
_NOT_CLASSES = frozenset(  # as long as they hold no image
    {"annotations", "annotation", "meta", "metadata", "imagesets", "labels", "docs", "doc", "info"}
    | {"lists", "splits", "attributes", "devkit", "code", "scripts", "readme", "license", "poly"}
    | {"boundingboxes", "bboxes", "xmls", "parts"}
)
_OTHER_SIGNS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Shape:
    """A tree of folders."""

    # how many images each folder itself holds, by its path; "" is the root
    images: Mapping[str, int]

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(filter(None, self.images)):
            above, _, name = path.rpartition("/")
            found.setdefault(above, []).append(name)
        return found

    @cached_property
    def _aside(self) -> frozenset[str]:
        return frozenset(
            path
            for path in self.images
            if plain(path.rpartition("/")[2]) in _NOT_CLASSES and not self.below(path)
        )

    @cached_property
    def _below(self) -> dict[str, int]:
        found = dict(self.images)
        for path in sorted(filter(None, self.images), key=lambda path: -path.count("/")):
            above = path.rpartition("/")[0]
            found[above] = found.get(above, 0) + found[path]
        return found

    def folders(self, path: str) -> list[str]:
        """The sorted names of the folders in a folder, but for those that only describe others."""
        names = self._children.get(path, [])
        return [name for name in names if inside(path, name) not in self._aside]

    def aside(self, path: str) -> set[str]:
        """The folders in a folder that only describe others."""
        names = self._children.get(path, ())
        return {name for name in names if inside(path, name) in self._aside}

    def with_images(self, path: str) -> list[str]:
        """Those of them that hold images, somewhere."""
        return [name for name in self.folders(path) if self.below(inside(path, name))]

    def below(self, path: str) -> int:
        """How many images a folder and those below it hold."""
        return self._below.get(path, 0)

    def without(self, folders: Sequence[str]) -> "Shape":
        """The tree as if these folders were not there."""
        images = self.images.items()
        left = {path: count for path, count in images if enclosing(path, folders) is None}
        return Shape(left) if folders else self


def inside(path: str, name: str) -> str:
    """The path of what a folder holds; "" is the root, or the folder itself."""
    return f"{path}/{name}" if path and name else path or name


def folders_above(path: str) -> Iterator[str]:
    """The folders that hold the folder at a path; "" is the root."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def lies_in(path: str, folder: str) -> bool:
    """Whether a folder is another one or lies in it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def enclosing(path: str, folders: Container[str]) -> str | None:
    """Return the nearest of `folders` that is the one at `path` or holds it; None for none."""
    return next((each for each in (path, *folders_above(path)) if each in folders), None)


def plain(name: str) -> str:
    """A name by its letters and digits alone, in lower case."""
    return _OTHER_SIGNS.sub("", name.lower())
