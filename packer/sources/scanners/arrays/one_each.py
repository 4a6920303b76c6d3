"""Folders of arrays, one image each: their template, ``{label}/{key}.npy``."""

from dataclasses import dataclass

from packer.errors import BadImage
from packer.images.arrays import HEAD, Header, header_of, is_picture
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree

EXTENSION = ".npy"
_LEAST = 2  # arrays in a folder
_LEAST_FLAT = 3  # in the only one
_SHARE = 2  # of the bands in a side: more of them may be the rows of a stack of images


def is_array(path: str) -> bool:
    """Return whether a file is named as an array is."""
    return path.lower().endswith(EXTENSION)


def is_in_picture(tree: Tree, path: str) -> bool:
    """Return whether a picture of the array at `path` holds all of it."""
    found = _header(tree, path)
    return found is None or is_picture(found.shape, found.dtype)  # None: it is named when read


@dataclass(frozen=True)
class OneEach:
    """Class folders or splits with several arrays in each, or one folder of alike arrays."""

    template: str  # of the arrays
    is_certain: bool  # each is an image; otherwise they may be features, or many images each

    @classmethod
    def of(cls, tree: Tree) -> "OneEach | None":
        """Return them by the first arrays of each folder; None for another tree."""
        if not tree.counts.get(EXTENSION) or tree.shape.below(""):
            return None
        levels = [(path, level) for path, level in tree.walk() if level.counts.get(EXTENSION)]
        if [path for path, _ in levels] == [""]:
            return cls._flat(tree)
        if not all(path and level.counts[EXTENSION] >= _LEAST for path, level in levels):
            return None
        tops = {path.split("/")[0] for path, _ in levels}
        is_divided = set(splits_of(sorted(tops))) == tops
        has_labels = min(path.count("/") for path, _ in levels) >= is_divided
        template = "{split}/" * is_divided + "{label}/" * has_labels + "{key}" + EXTENSION
        paths = (inside(path, name) for path, level in levels for name in level.examples[EXTENSION])
        return cls(template, all(_is_image(tree, path) for path in paths))

    @classmethod
    def _flat(cls, tree: Tree) -> "OneEach | None":
        """Return arrays that are alike: one of images may lie beside one of labels or masks."""
        names = tree.level().examples[EXTENSION]
        headers = [_header(tree, name) for name in names]
        kinds = {(len(one.shape), one.dtype) if one else None for one in headers}
        if len(names) < _LEAST_FLAT or len(kinds) > 1:
            return None
        return cls("{key}" + EXTENSION, all(one and _is_of_image(one) for one in headers))


def _is_image(tree: Tree, path: str) -> bool:
    found = _header(tree, path)
    return found is not None and _is_of_image(found)


def _is_of_image(found: Header) -> bool:
    shape, dtype = found.shape, found.dtype
    if len(shape) == 3:
        return dtype.kind in "biuf" and _SHARE * shape[2] <= min(shape[:2])
    return len(shape) == 2 and dtype.kind == "u" and dtype.itemsize <= 2


def _header(tree: Tree, path: str) -> Header | None:
    try:
        return header_of(tree.begin(path, HEAD))
    except BadImage:
        return None
