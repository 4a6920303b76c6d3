"""The templates of texts that annotate the images: one for each, or for lists of one form.

Lists that differ by the split in their names are read together. Of several lists with classes, one
gives the labels, or none.
"""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from packer.errors import UnusableInput
from packer.sources.evidence.folders import SPLIT
from packer.sources.scanners.templates.proposed import composed, form_of, in_order, proposed
from packer.sources.tables.texts import (
    COMPOSED,
    DISORDER,
    FOLDERS,
    NAMES,
    ORDER,
    Evidence,
    folder_of,
    text_of,
)
from packer.sources.trees.names import are_named_after, splits_of
from packer.sources.trees.tree import Tree

_WHOLE = 1 << 26  # bytes of a file for which a template is proposed
_FEW_FILES = 8  # that name images together
FOLDER = "{folder}"
LABEL = re.compile(r"\{label(?=[:?}])")
_UNCLEAR = re.compile(r"\{value\d|\{\w+\+")  # columns without names, and several values
_FIELD = re.compile(r"\{(\w+)")
_BEGUN = re.compile(rf"(trainval|{SPLIT.pattern})(?=list|set|class|[^a-zA-Z])", re.IGNORECASE)


class Lists(NamedTuple):
    """A value of ``--labels`` for each text."""

    texts: tuple[str, ...]
    role: str = ""  # of the name of a list that has only names of images: label, split, list
    is_clear: bool = True
    level: int = -1  # of the folders that they name, in the paths of images
    images: int = 0  # that they name
    are_flags: bool = False  # its values are 0 and 1
    way: str = ""  # of the images, in which its columns are fields

    def has(self, role: str) -> bool:
        return f"{{{role}" in "".join(self.texts)

    @property
    def fields(self) -> frozenset[str]:
        """The fields of its lines."""
        return frozenset(_FIELD.findall(self.texts[0].partition(": ")[2]))


def sums_of_others(found: Sequence[Evidence], tree: Tree) -> list[str]:
    """Return the lists that, but for comments, have the lines of several others and no more."""
    if len(found) < 3 or any(one.paths[1:] for one in found):
        return []
    each = {one.paths[0]: (_text(tree, one) or "").splitlines() for one in found}
    lines = {path: {line for line in own if not line.startswith("#")} for path, own in each.items()}
    parts = {
        path: [other for other in lines.values() if other and other < own]
        for path, own in lines.items()
    }
    return [path for path, own in parts.items() if own[1:] and set().union(*own) == lines[path]]


def _text(tree: Tree, one: Evidence) -> str | None:
    """Return the text of a file; None if it is none, or too long."""
    try:
        data = text_of(tree.whole(one.paths[0], _WHOLE))
    except UnusableInput:
        return None
    return data.decode("utf-8", "replace") if data else None


def lists_of(
    found: Sequence[Evidence], tree: Tree, src: Path, images: int, classes: Collection[str]
) -> Iterator[Lists]:
    """Yield the lists of all texts; none if one of them has no template.

    Lists that are named after `classes`, or folders, are not those of splits.
    """
    stems = [_stem(one.paths[0]) for one in found]
    found = [each for one in found for each in _single(one)]
    alike: dict[object, list[Evidence]] = {}
    for one in found:
        kind = without_split(one.paths[0])
        alike.setdefault(kind if one.kind != ORDER else one.paths, []).append(one)
    each = []
    for group in alike.values():
        together = list(_together(group, tree, src, classes)) if group[1:] else []
        forms = [together] if together else [list(_forms(one, tree, src, stems)) for one in group]
        counts = [sum(one.count for one in group)] if together else [one.count for one in group]
        counts = counts if group[0].kind != ORDER else [images]
        pairs = zip(forms, counts, strict=True)
        each += [[one._replace(images=count) for one in form] for form, count in pairs]
    lists = [one for forms in each for one in forms]
    are_splits = any("{split=" in "".join(one.texts) for one in lists if not one.role)
    roles = dict.fromkeys(one.role for one in lists if one.role) or {"": None}
    for role in ["split"] if are_splits and "split" in roles else roles:
        chosen = [[one for one in forms if one.role in ("", role)] for forms in each]
        for some in product(*chosen):
            is_clear = all(one.is_clear or (are_splits and one.role == "split") for one in some)
            level = max(one.level for one in some)
            some = _of_few(some, images)
            is_clear &= not any("?: " in text for one in some for text in one.texts)
            are_flags = sum(one.are_flags for one in some) > 1
            is_clear &= not are_flags
            each_text = _with_one_label([one.texts for one in some], are_flags)
            ways = [one.way for one in some if one.way]
            if ways[1:] or (ways and level >= 0):
                continue  # a name has one template
            way = "".join(ways)
            for at, texts in enumerate(map(_with_splits, each_text)):
                if sum(one.images for one in some) <= images and (
                    divided := _divided(texts, classes)
                ):
                    is_clear = False  # each names other images, and its name may be their split
                    yield Lists(divided, is_clear=False, level=level, way=way)
                yield Lists(texts, is_clear=is_clear and not at, level=level, way=way)


def _single(one: Evidence) -> Iterator[Evidence]:
    """Yield each of a few files that name images together."""
    count = len(one.paths)
    if one.kind == NAMES and one.lines and count <= _FEW_FILES:
        yield from (replace(one, paths=(path,), count=one.count // count) for path in one.paths)
    else:
        yield one


def _of_few(lists: Sequence[Lists], images: int) -> tuple[Lists, ...]:
    """Return lists with a mark for those whose fields only some images have by them."""
    counts: Counter[frozenset[str]] = Counter()
    for one in lists:
        counts[one.fields] += one.images
    return tuple(
        one
        if counts[one.fields] >= images
        else one._replace(texts=tuple(text.replace(": ", "?: ", 1) for text in one.texts))
        for one in lists
    )


def _with_one_label(lists: Sequence[Sequence[str]], are_flags: bool) -> Iterator[list[str]]:
    """Yield the lists, then with the labels of one or none; those of others get its name."""
    having = [at for at, texts in enumerate(lists) if LABEL.search(texts[0])]
    if not are_flags:  # of which each is of one class
        yield [text for texts in lists for text in texts]
    for main in [*(having if having[1:] and not are_flags else ()), None]:
        renamed: list[str] = []
        for at, texts in enumerate(lists):
            name = without_split(_stem(texts[0].partition(": ")[0]))
            name = re.sub(r"\W", "_", name).strip("_0123456789") or "listed"
            is_own = at == main or at not in having
            renamed += texts if is_own else [LABEL.sub(f"{{{name}", text) for text in texts]
        yield renamed


def _together(
    group: Sequence[Evidence], tree: Tree, src: Path, classes: Collection[str]
) -> Iterator[Lists]:
    """Yield the template of lists of one form, each of another split or of a class."""
    texts = [_text(tree, one) or "" for one in group]
    heads = {text.split("\n", 1)[0] for text in texts}
    rest = texts[1:]
    if len(heads) == 1:  # the names of columns
        rest = [text.partition("\n")[2] for text in rest]
    joined = "\n".join([texts[0], *rest])
    paths = [os.path.relpath(tree.root / one.paths[0], src) for one in group]
    splits = [_split_of(path) for path in paths]
    if paths[0].startswith("../") or len({*splits}) < len(group):
        return

    def fields(text: str) -> str:
        return form_of(paths[0], text, lambda name: any(o.has(name) for o in group), " ") or ""

    form = fields(joined)
    if len({fields(text).count("{") for text in texts}) > 1:
        return  # a list of the test split may lack labels
    if form and "{split" not in form:
        form, level = _of_folders(form.strip(), joined, group[0], tree, src)
        between = "" if form.startswith("#") else ": "
        pairs = zip(paths, splits, strict=True)
        found = tuple(f"{path}{between}{form} {{split={split}}}" for path, split in pairs)
        if are_named_after(splits, classes):
            found = tuple(f"{path}{between}{form}" for path in paths)
        yield Lists(found, is_clear=not _UNCLEAR.search(form), level=level)


def _of_folders(form: str, text: str, one: Evidence, tree: Tree, src: Path) -> tuple[str, int]:
    """Return a form with the field of the folders that it names, if it does, and their level."""
    if one.kind != FOLDERS:
        return form, -1
    videos = [word for word in text.split() if one.has(word) and folder_of(word) in word[:-3]]
    if videos:
        parents = {os.path.dirname(video) for video in videos}
        above, ext = "{_}/" * (parents != {""}), os.path.splitext(videos[0])[1]
        if len(parents) > 1 and not any("/" in parent for parent in parents):
            above, form = "{label}/", LABEL.sub("{listed", form)  # names say more than numbers
        form = form.replace("{key}", f"{above}{FOLDER}{ext}")
    level = one.level + len(tree.root.relative_to(src).parts)
    return form.replace("{key", FOLDER[:-1]), level


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]


def without_split(stem: str) -> str:
    """Return the name or the path of a list without words for splits."""
    return SPLIT.sub("", stem).lower()


def _with_splits(texts: Sequence[str]) -> tuple[str, ...]:
    """Return lists with the splits that their names hold, if each has another."""
    stems = [_stem(text.partition(": ")[0]) for text in texts]
    splits = list(map(_split_in, stems))
    alike: dict[str, list[str]] = {}  # the fields of lists -> the splits of these
    for text, split in zip(texts, splits, strict=True):
        alike.setdefault(text.partition(": ")[2], []).append(split)
    each = [own for own in alike.values() if len({*own}) == len(own) > 1]
    if {*splits} & {*stems} or (len({*splits}) < len(texts) and len(each) < len(alike)):
        return tuple(texts)
    if len({*splits}) < 2:
        return tuple(texts)
    pairs = zip(texts, splits, strict=True)
    return tuple(t if "{split" in t else f"{t} {{split={one}}}" for t, one in pairs)


def _divided(texts: Sequence[str], classes: Collection[str]) -> tuple[str, ...]:
    """Return lists of one form, without splits, with their names as these: seen and unseen."""
    stems = [_stem(text.partition(": ")[0].rstrip("?")) for text in texts]
    are_alike = len({text.partition(": ")[2] for text in texts}) == 1
    are_names = len({*stems}) > 1 and all(re.fullmatch(r"[^\W\d]+", stem) for stem in stems)
    is_of_classes = are_named_after(stems, classes)
    if not are_alike or not are_names or is_of_classes or "{split" in "".join(texts):
        return ()
    return tuple(f"{text} {{split={stem}}}" for text, stem in zip(texts, stems, strict=True))


def _forms(one: Evidence, tree: Tree, src: Path, stems: Sequence[str]) -> Iterator[Lists]:
    """Yield the templates of a text; ``{folder`` is the field of the folders that it names."""
    text = _text(tree, one)
    paths = [os.path.relpath(tree.root / path, src) for path in one.paths]
    if not text or paths[0].startswith("../"):
        return
    if one.kind == COMPOSED:
        for way in one.composed:
            if made := composed(paths[0], text, way.columns):
                yield Lists((made[0],), is_clear=False, way=way.template(made[1]))
    elif one.kind == ORDER:
        if one.paths[1:] and "\n" not in text.strip():  # a value for each folder
            each = (_text(tree, replace(one, paths=(path,))) or "" for path in one.paths)
            text = "\n".join(map(str.strip, each))
        parts = list(zip(*(path.split("/") for path in paths), strict=False))
        levels = [at for at, names in enumerate(parts) if len(set(names)) > 1]
        if len({path.count("/") for path in paths}) == 1 and len(levels) < 2:
            path = "/".join(FOLDER if at in levels else one[0] for at, one in enumerate(parts))
            if form := in_order(path, text):
                level, are_flags = max(levels, default=-1), {*text.split()} <= {"0", "1", "-1"}
                yield Lists((form,), is_clear=False, level=level, are_flags=are_flags)
    elif one.paths[1:] or one.kind == DISORDER:
        return
    elif one.kind == FOLDERS:
        form = proposed(paths[0], text, one.has, stems)
        if not form and all(map(one.has, text.split("\n")[: -text.endswith("\n") or None])):
            form = f"{paths[0]}: {{key}} {{split={_split_in(_stem(paths[0]))}}}"
        if form:
            others = {*_FIELD.findall(form.partition(": ")[2])} - {"key", "split"}
            if len(others) == 1 and all(map(str.isdecimal, one.stems)):  # which names say more than
                form = form.replace(f"{{{others.pop()}", "{label")
            form, level = _of_folders(form, text, one, tree, src)
            yield Lists((form,), level=level)
    elif form := proposed(paths[0], text, one.has, stems):
        yield Lists((form,), is_clear=not _UNCLEAR.search(form))
    elif all(map(one.has, lines := text.split())) and len(lines) == len(
        text.split("\n")
    ) - text.endswith("\n"):
        stem = _stem(paths[0])
        if re.fullmatch(r"[\w-]+", stem):
            split = _split_in(stem)
            for role in ("label", "split", "list") if split == stem else ("split", "list"):
                form = f"{paths[0]}: {{key}} {{{role}={split if role == 'split' else stem}}}"
                yield Lists((form,), role, is_clear=False)


def _split_of(path: str) -> str:
    """Return the split in the name of a list, or of a folder above it; else its name."""
    *folders, stem = os.path.splitext(path)[0].split("/")
    splits = ((name, _split_in(name)) for name in (stem, *reversed(folders)))
    return next((split for name, split in splits if split != name or splits_of([name])), stem)


def _split_in(stem: str) -> str:
    """Return the split in the name of a list, such as TrainImages; the name if there is none."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", stem)
    begun = _BEGUN.match(stem)
    words += [begun[1]] if begun else []
    return next((split for word in words for split in splits_of([word]).values()), stem)
