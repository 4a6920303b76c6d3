"""Folders of images as templates: class folders by torchvision's ImageFolder rules, or only images.

`trees.meaning` decides which folders are splits and classes.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.scanners.templates.chosen import Templates
from packer.sources.scanners.templates.source import TemplateSource
from packer.sources.scanners.templates.survey import describes, words_of
from packer.sources.trees.meaning import Layout, interpret
from packer.sources.trees.outright import by_templates
from packer.sources.trees.shape import Shape, inside
from packer.sources.trees.sidecars import MAPS
from packer.sources.trees.tree import Tree

BESIDE = "."  # the folder of a pair whose files are beside the images


def open_folders(
    tree: Tree,
    classes: Sequence[str] | None = None,
    pairs: Mapping[str, str] = {},
    *,
    kind: str | None = None,
    depth: int | None = None,
) -> TemplateSource:
    """Open a source of folders; raise UnusableInput where folders may be two things."""
    layout = layout_of(tree, pairs, kind, depth)
    return TemplateSource(tree, templates_of(tree, layout, pairs, kind), classes)


def layout_of(
    tree: Tree, pairs: Mapping[str, str] = {}, kind: str | None = None, depth: int | None = None
) -> Layout:
    """Distinguish class folders, split folders and a flat folder; raise UnusableInput.

    `pairs` are folders of members by their names, relative to the source: the file at the path of
    an image, but for its extension, is that member. With ``?`` behind the name, an image may lack
    it. `BESIDE` has it beside the image, as ``STEM.name.ext``.
    """
    folders = [os.path.normpath(folder) for folder in pairs.values() if folder != BESIDE]
    try:
        shape = tree.shape.without(folders)
    except OSError as error:
        raise UnusableInput(
            f"{error.filename or tree.root} is not a folder that can be read: {error.strerror}."
        ) from error
    stems = None if folders else partial(_stems, tree)
    shape = shape.without(_described(tree, shape) if kind is None else ())
    return interpret(shape, tree.root, kind=kind, depth=depth, stems=stems)


def templates_of(
    tree: Tree, layout: Layout, pairs: Mapping[str, str] = {}, kind: str | None = None
) -> Templates:
    """Return the templates that say a layout of folders, with the members of `pairs`."""
    folders = {**pairs, **layout.pairs}
    beside = {name for name, folder in folders.items() if folder == BESIDE}
    elsewhere = {name: folder for name, folder in folders.items() if name not in beside}
    leave = list(map(os.path.normpath, elsewhere.values()))
    chosen = frozenset(name.removesuffix("?") for name in beside)
    words = MAPS | chosen if kind else words_of(tree, leave, chosen)
    shape = tree.shape.without(leave)
    shape = shape.without(_described(tree, shape) if kind is None else ())
    with_classes = [
        split for split, base in layout.splits.items() if shape.folders(inside(layout.top, base))
    ]
    images, members = layout.as_templates(shape, with_classes, elsewhere)
    templates = Templates.of(SourceOptions(images=images, members=members))
    is_said = not beside and (not kind or words_of(tree) == words)
    bases = {inside(layout.top, base) for split, base in layout.splits.items() if split}
    what = "the folders of the splits" if bases else "the class folders"
    return replace(
        templates,
        words=words,
        required=tuple(name for name in beside if not name.endswith("?")),
        empty=tuple(sorted(base for base in bases if not shape.below(base))),
        stray=f"it is beside {what}, and belongs to none of them",
        outright=by_templates(images, members) if is_said else (),
    )


def _described(tree: Tree, shape: Shape) -> list[str]:
    """Return the folders that only describe others: beside all images, or the only folders."""
    path, found = "", list[str]()
    while shape.below(path):
        filled = shape.with_images(path)
        others = (inside(path, name) for name in shape.folders(path))
        found += (one for one in others if not shape.below(one) and describes(tree, one))
        if shape.images.get(path) or len(filled) != 1:
            break
        path = inside(path, filled[0])
    return found


def _stems(tree: Tree, path: str) -> dict[str, str]:
    """Return the paths of the images below a folder: relative to it, without extension -> whole."""
    files = (inside(folder, name) for folder, _ in tree.walk(path) for name in tree.images(folder))
    return {os.path.splitext(file)[0][len(path) :]: file for file in files}
