"""The meaning of folders, from their names and from the positions of images (pure).

A folder that has all others has no meaning and is looked through. Folders that are named as
splits are, whoever named them, are splits. The others are classes, one level of folders unless a
depth is chosen. If folders may mean two things, `interpret` does not guess: it refuses them and
names both, with the option that chooses.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from glob import escape

from packer.errors import UnusableInput
from packer.sources.trees.names import SPLITS, split_of, splits_of
from packer.sources.trees.outright import (
    ALL,
    FLAT,
    as_templates,
    by_templates,
    end_of,
    literal,
    masks_refusal,
)
from packer.sources.trees.shape import (
    IMAGES,
    Shape,
    Stems,
    Unpaired,
    enclosing,
    inside,
    masks,
    may_be_masks,
    plain,
    unpaired,
)
from packer.words import Placeholder, are, choices, have, listed, many, option

_NAMED = 5  # files, each in a command


@dataclass(frozen=True)
class Layout:
    """The meaning of the folders of a tree."""

    top: str = ""  # the folder that holds all others and says nothing; "" if there is none
    splits: Mapping[str, str] = field(default_factory=lambda: {"": ""})  # -> folder below top
    depth: int = 1  # how many levels of folders below a split name a class; `ALL`, `FLAT`
    pairs: Mapping[str, str] = field(default_factory=dict)  # member -> folder of masks

    @property
    def bases(self) -> list[str]:
        """The folder of each split; "" is the root."""
        return [inside(self.top, folder) for folder in self.splits.values()]

    def class_of(self, folder: str) -> str | None:
        """Return the class of the files in a folder below a split's; None above the classes."""
        names = folder.split("/") if folder else []
        if self.depth == ALL:
            return folder or None
        return "/".join(names[: self.depth]) if len(names) >= self.depth else None

    def class_in(self, folder: str) -> str:
        """Return the class of the images in a folder of the tree, "" for none."""
        base = enclosing(folder, self.bases)
        return "" if base is None else self.class_of(folder[len(base) :].strip("/")) or ""

    def classes(self, shape: Shape) -> set[str]:
        """Return the classes of the images of a tree."""
        return {self.class_in(path) for path, count in shape.images.items() if count} - {""}

    def as_templates(
        self, shape: Shape, with_classes: Collection[str], pairs: Mapping[str, str] = {}
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return the equal templates: of the images, and of each member; see `outright`."""
        usual = {
            base.split("/")[0]: split
            for split, base in self.splits.items()
            if split and shape.below(inside(self.top, base))
        }
        is_usual = splits_of(sorted(usual)) == usual
        return as_templates(
            self.top, self.splits, self.depth, with_classes, is_usual=is_usual, pairs=pairs
        )


def interpret(
    shape: Shape,
    where: object,
    *,
    kind: str | None = None,
    depth: int | None = None,
    stems: Stems | None = None,
) -> Layout:
    """Return what the folders of a tree mean; raise UnusableInput where it may be two things.

    Kind "folder" makes classes of whatever may be one, "flat" images without classes. Without a
    `depth`, one level of folders names a class, where that is not doubtful. `stems` gives the paths
    of the images below a folder, without extension -> with it and that of the folder; without it no
    masks are paired.
    """
    top = _top(shape)
    if kind is None:
        for folder, _ in masks(shape):
            found = unpaired(shape, stems) if stems else None
            if found is None:
                raise UnusableInput(masks_refusal(folder, where))
            if found.images or found.masks:
                raise _masks_refusal(found, where)
            if not found.is_certain(shape, top):
                raise UnusableInput(masks_refusal(folder, where))
            rest = interpret(shape.without([found.pairs[0][1]]), where, depth=depth)
            return replace(rest, pairs={"mask": found.pairs[0][1]})
    splits = _splits(shape, top, where, kind)
    if kind == "flat":
        return Layout(top, splits, FLAT)
    bases = [inside(top, folder) for folder in splits.values()]
    if kind is None and depth is None:
        for base in bases:
            refuse_doubtful_classes(shape, base, where, Layout(top, splits))
        _refuse_folders_of_images(shape, Layout(top, splits), where)
    return Layout(top, splits, 1 if depth is None else depth)


def _masks_refusal(found: Unpaired, where: object) -> UnusableInput:
    """Return the error that names the masks without an image, and the images without a mask."""
    images, masks = found.images, found.masks
    sides = (masks, found.counts[1], "mask", "image"), (images, found.counts[0], "image", "mask")
    said = [
        f"{len(some):,} of {many(count, noun)} {have(len(some))} no {other}: {listed(some, 2)}"
        for some, count, noun, other in sides
        if some
    ]
    ignoring = [word for one in masks for word in ("--ignore", escape(one))]
    if masks[_NAMED:]:
        ignoring = ["--on-error", "skip"]
    lax = ["--as", "pairs"] if images or masks[_NAMED:] else []
    kept = f"Leave out the masks without an image{', and keep the others' * bool(images)}"
    readings = {kept if masks else "Keep the images without a mask": [*lax, *ignoring]}
    return UnusableInput(f"{where}: {'; '.join(said)}. Choose:", choices(where, readings))


def _top(shape: Shape) -> str:
    """Return the folder to begin with: it holds all others, and those above hold no image."""
    top = ""
    while not shape.images.get(top) and len(names := shape.folders(top)) == 1:
        child = inside(top, names[0])
        if splits_of(names) or not (
            plain(names[0]) in IMAGES
            if shape.images[child] or not shape.folders(child)
            else shape.below(child)
        ):
            break
        top = child
    return top


def _splits(shape: Shape, top: str, where: object, kind: str | None) -> dict[str, str]:
    names = shape.folders(top)
    found = splits_of(names)
    others = [name for name in names if name not in found]
    filled = [name for name in others if shape.below(inside(top, name))]
    if not any(split in SPLITS for split in found.values()) or (filled and kind):
        return {"": ""}
    if filled:
        if _is_a_train(shape, top, found):
            return {"": ""}
        raise UnusableInput(
            f"{where}: of the folders in {top or 'it'}, {listed(found)} {are(len(found))} "
            f"named like splits, and {listed(filled)} {are(len(filled))} not."
        )
    if len(set(found.values())) < len(found):
        paths = {inside(top, name): split for name, split in found.items()}
        ways = [
            f"{{split={split}}}{literal(path)}/{end_of(shape, path, splits_of)}"
            for path, split in paths.items()
        ]
        readings = {"Those of one name are one split": by_templates(ways)}
        raise UnusableInput(
            f"{where}: {listed(found)} would become one split. Rename one of them, or choose:",
            choices(where, readings),
        )
    return {split: _base(shape, top, name, split) for name, split in found.items()}


def _base(shape: Shape, top: str, name: str, split: str) -> str:
    """Return the folder of a split's classes or images, below folders without a meaning."""
    folder = inside(top, name)
    while not shape.images.get(folder) and len(names := shape.folders(folder)) == 1:
        again = split_of(names[0]) == split or names[0].lower() == name.lower()
        if not again and (plain(names[0]) not in IMAGES or not shape.below(folder)):
            break
        folder = inside(folder, names[0])
    return folder[len(top) :].strip("/")


def _is_a_train(shape: Shape, folder: str, splits: Mapping[str, str]) -> bool:
    """Return whether what is named as splits are is a class: the train among the cars."""
    names = shape.folders(folder)
    if any(shape.folders(inside(folder, name)) or may_be_masks(name) for name in names):
        return False
    return [name.lower() for name in splits] == ["train"]


def refuse_doubtful_classes(
    shape: Shape, folder: str, where: object, layout: Layout | None = None
) -> None:
    """Raise where the folders in a folder, of a `layout`, may be other than its classes."""
    names = shape.with_images(folder)
    splits = splits_of(names)
    layout = layout or Layout(folder)
    if splits and not _is_a_train(shape, folder, splits):
        readings = {"All are classes": _as_options(replace(layout, depth=1), shape)}
        if len(splits) == len(names):
            start = inside(literal(folder), "{split}/")
            end = end_of(shape, inside(folder, names[0]), splits_of)
            readings["All are splits"] = by_templates([start + end])
        raise UnusableInput(
            f"{where}: {listed(splits)} in {folder or 'it'} {are(len(splits))} named like splits, "
            "beside class folders. Pack each split separately, or choose:",
            choices(where, readings),
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
            f"{where}: {path} has the splits {listed(below)} in it; splits are expected above "
            "the classes."
        )
    alone = {f"The folders in {nested[0]} are classes": ("--as", "folder")}
    has_others = names == nested and shape.images[folder]
    text = (
        f"{where}: {path} has no images, only the folders {listed(below)}, and either may be "
        "the classes."
    )
    if has_others:
        raise UnusableInput(text, choices(f"{where}/{path}", alone))
    raise UnusableInput(
        text,
        " ",
        option("class_depth", Placeholder("N")),
        f" makes classes of N levels of folders: {nested[0]} of 1, {nested[0]}/{below[0]} of 2, "
        "each folder with images of all.",
    )


def _as_options(layout: Layout, shape: Shape) -> tuple[str, ...]:
    bases = layout.splits.items()
    with_classes = [s for s, base in bases if shape.with_images(inside(layout.top, base))]
    return by_templates(*layout.as_templates(shape, with_classes))


def _refuse_folders_of_images(shape: Shape, layout: Layout, where: object) -> None:
    names = sorted({name for base in layout.bases for name in shape.with_images(base)})
    alone = names if len(names) == 1 and split_of(names[0]) else []
    if called := [name for name in names if plain(name) in IMAGES] or alone:
        what, meant = ("a class", "It is a class") if len(called) == 1 else ("classes", "They are")
        readings = {meant: _as_options(layout, shape)}
        raise UnusableInput(
            f"{where}: {listed(called)} would become {what}. Choose:", choices(where, readings)
        )
