"""Folders that may not be classes: refused, with the command of each interpretation.

Copies, the parts of one sample beside each other, and what a set is divided into without a meaning
look like class folders. Each rule is one function here. Rules look at the content of folders, and
at names only if the content is not enough: class folders whose images are all counted from 1 are
common.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from packer.errors import UnusableInput
from packer.sources.readings.folders.contents import (
    FLAT,
    FOLDER,
    FOLDERS,
    LEAST,
    MANY,
    Contents,
    nearly_all,
)
from packer.sources.readings.folders.parts import parts
from packer.sources.readings.folders.reading import layout_of, templates_of
from packer.sources.scanners.templates.source import TemplateSource
from packer.sources.trees.meaning import Layout, interpret
from packer.sources.trees.names import (
    are_counters,
    chunks,
    have_roles,
    is_named_as_mask,
    is_role,
    splits_of,
)
from packer.sources.trees.outright import by_templates, literal
from packer.sources.trees.shape import OfOthers, inside
from packer.sources.trees.tree import Tree
from packer.words import choices, listed

_SPLITS = ("train", "test", "val", "valid", "validation")


def open_folders(
    tree: Tree,
    classes: Sequence[str] | None = None,
    pairs: Mapping[str, str] = {},
    *,
    kind: str | None = None,
    depth: int | None = None,
) -> TemplateSource:
    """Open a source of folders; raise UnusableInput where folders may be no classes."""
    layout = certain_layout(tree, pairs, kind, depth)
    return TemplateSource(tree, templates_of(tree, layout, pairs, kind), classes)


def certain_layout(
    tree: Tree, pairs: Mapping[str, str] = {}, kind: str | None = None, depth: int | None = None
) -> Layout:
    """Return what folders mean; raise UnusableInput where they may be no classes."""
    doubted = kind is None and depth is None and not pairs
    try:
        layout = layout_of(tree, pairs, kind, depth)
    except OfOthers:
        raise
    except UnusableInput:
        if doubted:
            folders = Contents(tree, interpret(tree.shape, tree.root, kind="flat"))
            _refuse(folders)
            if found := _only_one(folders):
                raise UnusableInput(f"{folders.where}: {found}") from None
        raise
    if doubted and not layout.pairs:
        _refuse(Contents(tree, layout))
    return layout


def _refuse(folders: Contents) -> None:
    rules = (
        _same_names,
        _copy,
        parts,
        _domains,
        _masks_alone,
        _datasets,
        _chunks,
    )
    if found := next(filter(None, (rule(folders) for rule in rules)), ""):
        raise UnusableInput(f"{folders.where}: {found}")


def _same_names(folders: Contents) -> str:
    """Classes whose names look the same: in two forms of Unicode, or with a space around."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in folders.names:
        found[unicodedata.normalize("NFC", name).strip()].add(name)
    same = next((names for names in found.values() if len(names) > 1), None)
    if same is None:
        return ""
    both = " and ".join(map(ascii, sorted(same)))
    return (
        f"the folders {both} have names that look the same, but would be {len(same)} classes. "
        "If they are one class, rename them to one name. Otherwise, rename them to names that "
        "differ."
    )


def _copy(folders: Contents) -> str:
    """Find a folder that repeats its parent: an archive unpacked twice, or thumbnails."""
    shape = folders.shape
    found: dict[str, list[str]] = defaultdict(list)  # name of the folder -> where it lies
    for path, count in shape.images.items():
        names = shape.with_images(path)
        for name in names if count or len(names) > 1 else ():
            below = shape.below(inside(path, name))
            rest = shape.below(path) - below
            if min(below, rest) < nearly_all(max(below, rest)):
                continue
            inner = shape.with_images(inside(path, name))
            if len(inner) == len(names) - 1 and {name, *inner} == set(names):
                found[name].append(path)
    for name, paths in found.items():
        copies = [path for path in paths[:FOLDERS] if _repeats(folders, path, name)]
        if copies and (len(copies) > 1 or len(paths) == 1 or is_role(name)):
            glob = f"{inside(copies[0], name)}/**" if len(paths) == 1 else f"**/{name}/**"
            above = copies[0] or "the folder that holds it"
            text = f"{inside(copies[0], name)} has images of the same names as {above}. Choose:"
            text += choices(folders.where, {"It is a copy": ("--ignore", glob)})
            if len(paths) == 1 and inside(copies[0], "") == folders.layout.top:
                text += folders.packing(inside(copies[0], name), f"Pack only {name}")
            return text + choices(folders.where, {"All are samples": FOLDER})
    return ""


def _repeats(folders: Contents, path: str, name: str) -> bool:
    names = folders.shape.with_images(path)
    below = [other for other in names if other != name][:FOLDERS]
    copy, rest = (
        {inside(other, stem) for other in below for stem in folders.stems(inside(top, other))}
        if below
        else {file.rpartition(".")[0] for file in folders.names_in(top)[:MANY]}
        for top in (inside(path, name), path)
    )
    if len(rest & copy) < max(nearly_all(len(rest)), LEAST):
        return False
    subfolders = {stem.rpartition("/")[0] for stem in copy}
    return len(subfolders) > 1 or is_role(name) or not are_counters(copy)


def _domains(folders: Contents) -> str:
    """Splits and domains in one name: trainA, trainB, testA and testB."""
    found: dict[str, set[str]] = defaultdict(set)  # split -> domains
    for name in folders.names:
        split = next((word for word in _SPLITS if name.lower().startswith(word)), "")
        found[name[: len(split)]].add(name[len(split) :])
    splits, domains = list(found), set(map(frozenset, found.values()))
    if folders.has_splits or "" in found or len(found) < 2 or len(domains) > 1:
        return ""
    if len(next(iter(domains))) < 2 or "" in next(iter(domains)):
        return ""
    top = folders.start or ""
    ways = [f"{{split={splits_of([s])[s]}}}{top}{literal(s)}{{label}}/{{key}}" for s in splits]
    readings = {"They are splits of classes": by_templates(ways), "They are classes": FOLDER}
    text = f"the names of the folders {listed(folders.names)} start with names of splits."
    return f"{text} Choose:{choices(folders.where, readings)}"


def _masks_alone(folders: Contents) -> str:
    """Folders of pictures that are all named as masks are, ``x_mask.png``, and others of none."""
    some = {path: folders.names_in(path)[:MANY] for path in folders.some()}
    counts = {path: sum(map(is_named_as_mask, names)) for path, names in some.items()}
    alone = [path for path, names in some.items() if counts[path] >= max(LEAST, len(names))]
    if not alone or all(counts.values()) or have_roles([path.rpartition("/")[2] for path in alone]):
        return ""
    example = inside(alone[0], some[alone[0]][0])
    text = f"{example} and all files beside it have names of masks, and others do not. Choose:"
    ignoring = [word for path in alone for word in ("--ignore", f"{path}/*")]
    readings = {"They are masks without images": ignoring, "They are samples": FOLDER}
    return text + choices(folders.where, readings)


def _datasets(folders: Contents) -> str:
    """Folders whose images have files of other kinds beside them in each: several datasets."""
    for base, names in folders.classes.items():
        if not 2 <= len(names) <= FOLDERS:
            continue
        kinds = {name: folders.beside_images(inside(base, name)) for name in names}
        if all(kinds.values()) and not set.intersection(*kinds.values()):
            others = [f"{', '.join(sorted(of))} in {name}" for name, of in kinds.items()]
            text = (
                f"the images of each folder have other files beside them: {listed(others)}. Choose:"
            )
            for name in names:
                text += folders.packing(inside(base, name), f"Pack only {name}")
            return text + choices(folders.where, {"They are classes": FOLDER})
    return ""


def _chunks(folders: Contents) -> str:
    """Folders that a set is divided into without a meaning: numbers, dates, letters of a hash."""
    for base, names in folders.classes.items():

        def images(name: str, base: str = base) -> Iterator[tuple[str, str]]:
            for path, files in islice(folders.images(inside(base, name)), FOLDERS):
                for file in files[:MANY]:
                    yield path[len(base) :].strip("/"), file.rpartition(".")[0]

        if what := chunks(names, images):
            return (
                f"the folders {listed(names)} look like {what} instead of classes. Choose:"
                + choices(folders.where, {"Folders mean nothing": FLAT, "They are classes": FOLDER})
            )
    return ""


def _only_one(folders: Contents) -> str:
    """Find one folder with all images, whose folders may be other things than classes."""
    if len(folders.names) != 1 or len(folders.classes) > 1:
        return ""
    ((base, (name,)),) = folders.classes.items()
    folder = inside(base, name)
    inner = ""
    if folders.shape.images[base] and folders.shape.with_images(folder):
        inner = folders.packing(folder, f"The folders in {name} are classes")
    readings = {"It is a class": FOLDER, "It means nothing": FLAT}
    text = f"all images are in {folder}, which would be the only class. Choose:{inner}"
    return f"{text}{choices(folders.where, readings)}"
