"""The meaning of folders as explicit options of a command line, in templates (pure)."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from packer.sources.trees.shape import Shape, inside

ALL = -1  # as a depth: each folder that holds images is a class, wherever it lies
FLAT = 0  # as a depth: folders mean nothing

SplitsOf = Callable[[list[str]], Mapping[str, str]]


def as_templates(
    top: str,
    splits: Mapping[str, str],
    depth: int,
    with_classes: Collection[str],
    *,
    is_usual: bool = True,
    pairs: Mapping[str, str] = {},
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the templates of a layout of folders: of the images, and of each member.

    `with_classes` are the splits that hold folders. `is_usual`: whether ``{split}`` gives the
    splits from their folders' names; the folders of `pairs` are relative to the source.
    """
    top = literal(f"{top}/" if top else "")
    ends = {split: _end(depth if split in with_classes else FLAT) for split in splits}
    ways = list(dict.fromkeys(inside(_any(base), ends[split]) for split, base in splits.items()))
    if len(ways) > 1 or not is_usual:
        ways = [f"{{split={s}}}{literal(base)}/{ends[s]}" for s, base in splits.items()]
    members = {name: inside(literal(folder), "{path}") for name, folder in pairs.items()}
    return tuple(top + way for way in ways), members


def by_templates(images: Collection[str], members: Mapping[str, str] = {}) -> tuple[str, ...]:
    """Return templates as options."""
    found = [word for one in images for word in ("--images", one)]
    found += [word for name, one in members.items() for word in ("--member", f"{name}={one}")]
    return tuple(found)


def without(role: str, templates: Sequence[str]) -> list[str]:
    """Return templates whose field of this role means nothing."""
    return [re.sub(rf"\{{{role}(:\w+)?\}}", "{_}", word) for word in templates]


def member(name: str) -> str:
    """Return the name of a member from that of a folder."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def literal(text: str) -> str:
    """Return a text as a template has it."""
    return text.replace("{", "{{").replace("}", "}}").replace("*", "[*]")


def _end(depth: int) -> str:
    spec = {ALL: ":all", 1: ""}.get(depth, f":{depth}")
    return "{key}" if depth == FLAT else f"{{label{spec}}}/{{key}}"


def _any(base: str) -> str:
    """Return the folder of a split for all splits: with the field in place of its name."""
    names = base.split("/") if base else []
    return "/".join("{split}" if name == names[0] else literal(name) for name in names)


def end_of(shape: Shape, folder: str, splits_of: SplitsOf) -> str:
    """Return the template of the images in a folder: of splits, of classes, or only of images."""
    names = shape.with_images(folder)
    if not names or shape.images.get(folder):
        return "{key}"
    if len(splits_of(names)) < len(names):
        return "{label}/{key}"
    below = {end_of(shape, inside(folder, name), splits_of) for name in names}
    return f"{{split}}/{below.pop()}" if len(below) == 1 else "{split}/{key}"


def masks_refusal(folder: str, where: object) -> str:
    """Return why a folder of masks stops packing."""
    return f"{where}: {folder} has the name of a folder of masks, which are not samples."
