"""What folders mean, told from their names and from where images lie (pure).

A folder that alone holds all others says nothing and is looked through. Folders that are named as
splits are, whoever named them, are splits. What remains are classes, one level of folders unless a
depth is chosen. Where folders may mean two things nothing is guessed: `understand` refuses them
with both, and with the option that chooses.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from packer.errors import UnusableInput

ALL = -1  # as a depth: each folder that holds images is a class, wherever it lies
FLAT = 0  # as a depth: folders mean nothing

SPLITS = frozenset({"train", "val", "valid", "validation", "test"})
_ALIASES = {"training": "train", "testing": "test"} | {name: name for name in SPLITS}
_BESIDE_SPLITS = frozenset(  # which are splits beside others, and alone mean nothing
    {"trainval", "dev", "eval", "pred", "extra", "holdout", "unlabeled", "unlabelled"}
)
_IMAGES = frozenset(
    {"image", "images", "img", "imgs", "jpegimages", "leftimg8bit", "rgb", "frames", "photos"}
    | {"pictures", "jpg", "jpeg", "jpegs", "png", "pngs", "input", "inputs", "imagery"}
)
_MASKS = frozenset(
    {"groundtruth", "gtfine", "gtcoarse", "trimap", "trimaps", "segmentationclass", "annotation"}
    | {"segmentationobject", "segmentationclassaug", "annotations", "annots", "labelids"}
)
_MASKS_BESIDE_IMAGES = frozenset(
    {"mask", "masks", "gt", "label", "labels", "segmentation", "segmentations", "seg", "depth"}
    | {"target", "targets", "depths"}
)
_NOT_CLASSES = frozenset(  # as long as they hold no image
    {"annotations", "annotation", "meta", "metadata", "imagesets", "labels", "docs", "doc", "info"}
    | {"lists", "splits", "attributes", "devkit", "code", "scripts", "readme", "license", "poly"}
    | {"boundingboxes", "bboxes", "xmls", "parts"}
)
_NAMED = 5  # folders in an error


@dataclass(frozen=True)
class Shape:
    """A tree of folders.

    Attributes:
        images: how many images each folder itself holds, by its path; "" is the root.
    """

    images: Mapping[str, int]

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(filter(None, self.images)):
            above, _, name = path.rpartition("/")
            found.setdefault(above, []).append(name)
        return found

    @cached_property
    def _below(self) -> dict[str, int]:
        found = dict(self.images)
        for path in sorted(filter(None, self.images), key=lambda path: -path.count("/")):
            above = path.rpartition("/")[0]
            found[above] = found.get(above, 0) + found[path]
        return found

    def folders(self, path: str) -> list[str]:
        """The sorted names of the folders in a folder, but for those that only describe others."""
        aside = self.aside(path)
        return [name for name in self._children.get(path, ()) if name not in aside]

    def aside(self, path: str) -> set[str]:
        """The folders in a folder that only describe others."""
        return {
            name
            for name in self._children.get(path, ())
            if _plain(name) in _NOT_CLASSES and not self.below(inside(path, name))
        }

    def with_images(self, path: str) -> list[str]:
        """Those of them that hold images, somewhere."""
        return [name for name in self.folders(path) if self.below(inside(path, name))]

    def below(self, path: str) -> int:
        """How many images a folder and those below it hold."""
        return self._below.get(path, 0)

    def without(self, folders: Sequence[str]) -> "Shape":
        """The tree as if these folders were not there."""
        return Shape(
            {
                path: count
                for path, count in self.images.items()
                if not any(lies_in(path, folder) for folder in folders)
            }
        )


@dataclass(frozen=True)
class Layout:
    """What the folders of a tree mean.

    Attributes:
        top: the folder that holds all others and says nothing; "" if there is none.
        splits: the folder of each split, below the top; "" is the only one without splits.
        depth: how many levels of folders below a split name a class; `ALL`, `FLAT`.
        aside: the folders where classes lie that hold no image and are named as none, below the
            top.
        pairs: folders of masks that belong to the images of the same paths: member -> folder.
    """

    top: str = ""
    splits: Mapping[str, str] = field(default_factory=lambda: {"": ""})
    depth: int = 1
    aside: frozenset[str] = frozenset()
    pairs: Mapping[str, str] = field(default_factory=dict)

    def class_of(self, folder: str) -> str | None:
        """The class of the files in a folder.

        Args:
            folder: its path below that of its split, "" for the split's own.

        Returns:
            None for a folder above the classes.
        """
        names = folder.split("/") if folder else []
        if self.depth == ALL:
            return folder or None
        return "/".join(names[: self.depth]) if len(names) >= self.depth else None

    def classes(self, shape: Shape) -> set[str]:
        """The names of all classes."""
        found = set()
        for base in self.splits.values():
            base = inside(self.top, base)
            for path, count in shape.images.items():
                below = path[len(base) :].strip("/")
                if not below or not lies_in(path, base) or (self.depth == ALL and not count):
                    continue
                if not any(lies_in(path, inside(self.top, folder)) for folder in self.aside):
                    found.add(self.class_of(below) or "")
        return found - {""}


def understand(
    shape: Shape,
    where: object,
    *,
    kind: str | None = None,
    depth: int | None = None,
    stems: Callable[[str], frozenset[str]] | None = None,
) -> Layout:
    """What the folders of a tree mean.

    Args:
        shape: the tree.
        where: it lies, for errors.
        kind: "folder" has what may be a class be one; "flat" makes images without classes.
        depth: how many levels name a class; None: one, if that is not doubtful.
        stems: the paths of the images below a folder, relative to it and without extension;
            without it no masks are paired.

    Raises:
        UnusableInput: it may mean two things.
    """
    top = _top(shape)
    if kind is None:
        for folder in _masks(shape):
            if stems and (pairs := _certain_pair(shape, top, stems)):
                rest = understand(shape.without(list(pairs.values())), where, depth=depth)
                return replace(rest, pairs=pairs)
            raise UnusableInput(_told_of_masks(shape, folder, where))
    splits = _splits(shape, top, where, kind)
    if kind == "flat":
        return Layout(top, splits, FLAT)
    bases = [inside(top, folder) for folder in splits.values()]
    if kind is None and depth is None:
        for base in bases:
            _refuse_doubtful_classes(shape, base, where)
    aside = frozenset(
        inside(base, name)[len(top) :].strip("/") for base in bases for name in shape.aside(base)
    )
    return Layout(top, splits, 1 if depth is None else depth, aside)


def splits_of(names: Sequence[str]) -> dict[str, str]:
    """Those of the names that are those of splits, each with the split's usual name.

    Case and a year behind the name say nothing. What all have beside it (``seg_train``,
    ``seg_test``) says nothing either.
    """
    found = {name: split for name in names if (split := _split_of(name))}
    if any(split in SPLITS for split in found.values()):
        return found
    apart: dict[tuple[str, ...], dict[str, str]] = {}
    for name in names:
        tokens = re.split(r"[_\-. ]+", name)
        words = [number for number, token in enumerate(tokens) if _split_of(token)]
        if len(words) == 1 and len(tokens) > 1:
            rest = (*tokens[: words[0]], "", *tokens[words[0] + 1 :])
            apart.setdefault(rest, {})[name] = _split_of(tokens[words[0]])
    for group in apart.values():
        if len(SPLITS.intersection(group.values())) > 1:
            return group
    return {}


def inside(path: str, name: str) -> str:
    """The path of what a folder holds; "" is the root, or the folder itself."""
    return f"{path}/{name}" if path and name else path or name


def lies_in(path: str, folder: str) -> bool:
    """Whether a folder is another one or lies in it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def _split_of(name: str) -> str:
    """The split that a folder's name alone tells, "" for none."""
    plain = re.sub(r"[_-]?\d{1,4}$", "", name.lower())
    return _ALIASES.get(plain, plain if plain in _BESIDE_SPLITS else "")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _top(shape: Shape) -> str:
    """The folder to begin with: it holds all others, and those above hold no image."""
    top = ""
    while not shape.images.get(top) and len(names := shape.folders(top)) == 1:
        child = inside(top, names[0])
        if splits_of(names) or not (
            _plain(names[0]) in _IMAGES
            if shape.images[child] or not shape.folders(child)
            else shape.below(child)
        ):
            break
        top = child
    return top


def _splits(shape: Shape, top: str, where: object, kind: str | None) -> dict[str, str]:
    """The folder of each split, below the top."""
    names = shape.folders(top)
    found = splits_of(names)
    beside = [name for name in names if name not in found]
    filled = [name for name in beside if shape.below(inside(top, name))]
    if not any(split in SPLITS for split in found.values()) or (filled and kind):
        return {"": ""}
    if filled:
        leaves = not any(shape.folders(inside(top, name)) for name in names)
        if len(found) == 1 and leaves:
            return {"": ""}  # a class, as the train among the cars
        raise UnusableInput(
            f"{where}: of the folders in {top or 'it'}, {_listed(found)} {_are(found)} named as "
            f"splits are, and {_listed(filled)} {_are(filled)} not. If all are classes, give --as "
            f"folder. If they are splits, pack what belongs to none apart: move {_listed(filled)} "
            "elsewhere."
        )
    if len(set(found.values())) < len(found):
        raise UnusableInput(
            f"{where}: {_listed(found)} would be splits of the same name. Rename them, or give "
            "--as folder if they are classes."
        )
    return {split: _base(shape, top, name, split) for name, split in found.items()}


def _base(shape: Shape, top: str, name: str, split: str) -> str:
    """The folder of a split's classes or images: one that says nothing is looked through."""
    folder = inside(top, name)
    while not shape.images.get(folder) and len(names := shape.folders(folder)) == 1:
        again = _split_of(names[0]) == split or names[0].lower() == name.lower()
        if not again and (_plain(names[0]) not in _IMAGES or not shape.below(folder)):
            break
        folder = inside(folder, names[0])
    return folder[len(top) :].strip("/")


def _refuse_doubtful_classes(shape: Shape, folder: str, where: object) -> None:
    """Raise where the folders in a folder may be something else than its classes."""
    names = shape.with_images(folder)
    if len(splits := splits_of(names)) > 1:
        raise UnusableInput(
            f"{where}: {_listed(splits)} in {folder or 'it'} are named as splits are, and lie "
            "where classes do. Pack what is a split by itself, or give --as folder if all are "
            "classes."
        )
    nested = [
        name
        for name in names
        if not shape.images[inside(folder, name)]
        and len(shape.with_images(inside(folder, name))) > 1
    ]
    if not nested or 2 * len(nested) < len(names):
        return
    path = inside(folder, nested[0])
    below = shape.with_images(path)
    if splits_of(below):
        raise UnusableInput(
            f"{where}: {path} has the splits {_listed(below)} in it; splits are read above the "
            "classes. Pack one class after the other as a dataset of its own, move the folders, or "
            f"give --class-depth 1 if all below {path} is one class without splits."
        )
    raise UnusableInput(
        f"{where}: {path} has no image of its own but the folders {_listed(below)}. If "
        f"{nested[0]} is a class, give --class-depth 1; if {nested[0]}/{below[0]} is one, "
        "--class-depth 2; if each folder that holds images is one, --class-depth all."
    )


def _masks(shape: Shape) -> Iterator[str]:
    """The folders that hold masks, told from their names."""
    for path in sorted(filter(None, shape.images)):
        above, _, name = path.rpartition("/")
        siblings = set(shape.with_images(above)) - {name}
        if shape.below(path) and _is_of_masks(name, siblings):
            yield path


def _is_of_masks(name: str, siblings: set[str]) -> bool:
    plain = {_plain(sibling) for sibling in siblings}
    if _plain(name) in _MASKS or (_plain(name) in _MASKS_BESIDE_IMAGES and plain & _IMAGES):
        return True
    tokens = re.split(r"[_\-. ]+", name.lower())
    rest = "".join(token for token in tokens if token not in _MASKS_BESIDE_IMAGES)
    return "" != rest != "".join(tokens) and bool({rest} & plain) and len(tokens) > 1


def _certain_pair(
    shape: Shape, top: str, stems: Callable[[str], frozenset[str]]
) -> dict[str, str] | None:
    """The one folder of masks that has a file for each image, and no other."""
    names = shape.with_images(top)
    images = [name for name in names if _plain(name) in _IMAGES]
    if len(names) != 2 or len(images) != 1 or shape.images.get(top):
        return None
    (masks,) = set(names) - set(images)
    if not _is_of_masks(masks, set(images)):
        return None
    folder = inside(top, masks)
    while not shape.images[folder] and len(only := shape.with_images(folder)) == 1:
        folder = inside(folder, only[0])
    if stems(inside(top, images[0])) != stems(folder):
        return None
    return {"mask": folder}


def _told_of_masks(shape: Shape, folder: str, where: object) -> str:
    """Why a folder of masks stops packing, and what to type."""
    above, _, name = folder.rpartition("/")
    images = [other for other in shape.with_images(above) if other != name]
    images.sort(key=lambda other: _plain(other) not in _IMAGES)
    text = f"{where}: {folder} is named as masks are, which are no samples."
    if images:
        source = f"{where}/{inside(above, images[0])}"
        text += (
            f" If it has a mask for each image in {inside(above, images[0])}, of the same name, "
            f"type: packer pack {source} DST --pair mask={where}/{folder} (mask?=... if some have "
            f"none); for the images alone: packer pack {source} DST."
        )
    return f"{text} If all folders are classes, give --as folder."


def _listed(names: "Sequence[str] | Mapping[str, str]") -> str:
    listed = list(names)
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return ", ".join(listed[:_NAMED]) + more


def _are(names: "Sequence[str] | Mapping[str, str]") -> str:
    return "is" if len(names) == 1 else "are"
