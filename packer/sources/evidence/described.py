"""What options of packing mean, in words: samples, classes, splits, and what goes into the json."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from packer.sources.scanners.templates.lines import ListTemplate
from packer.words import listed

_FIELD = re.compile(r"(?<!\{)\{(\w+)")
_LABEL = re.compile(r"\{label(?::(\w+))?\}")
_CONSTANT = re.compile(r"\{split=")
_OTHERS = re.compile(r"\{split\?=(\w+)\}")
_MEANING = {"label", "split", "key", "path", "_"}
_SHOWN = 2  # files


def described(words: Sequence[str], left: Sequence[str] = ()) -> str:
    """Return what templates, lists and globs mean; `left` are files that no option reads."""
    given: dict[str, list[str]] = defaultdict(list)
    for flag, value in zip(words[::2], words[1::2], strict=True):
        given[flag].append(value)
    images, lists = given["--images"], list(map(ListTemplate.of, given["--labels"]))
    members = [one.partition("=")[0].removesuffix("?") for one in given["--member"]]
    folder = images[0].rpartition("/")[0] if images else ""
    said = [f"images{f' in {folder}' * bool(folder)} have {listed(members)}"] if members else []
    said += _by_values(images, lists)
    has_labels = any({"label", "class"} & set(one.names) for one in lists)
    said += [*_of_folders(images, has_labels=has_labels), *_of_lists(images, lists)]
    said = said or ["all images are samples"]
    said += [f"ignore {', '.join(given['--ignore'])}"] if given["--ignore"] else []
    said += ["lines whose image is not there are left out"] if given["--on-error"] else []
    said += [f"{listed(left, _SHOWN)} {'are' if left[1:] else 'is'} not read"] if left else []
    text = "; ".join(said)
    return text[:1].upper() + text[1:]


def _by_values(images: Sequence[str], lists: Sequence[ListTemplate]) -> Iterator[str]:
    """Yield which lists belong to images by more than a name, or by less: their order."""
    known = {name for way in images for name in _FIELD.findall(way)} | {
        name for one in lists if "key" in one.names for name in one.names
    }
    if in_order := [one.file for one in lists if known.isdisjoint(one.names)]:
        yield f"the lines of {_listed(in_order)} belong to images by their order alone"
    own = {name for way in images for name in _FIELD.findall(way)} - _MEANING
    for one in lists:
        if "key" in one.names and (shared := [f.name for f in one.fields if f.name in own]):
            key = next(field for field in one.fields if field.name == "key")
            names = [*shared, key.spec or "key"]
            yield f"{', '.join(names[:-1])} and {names[-1]} of {_listed([one.file])} name images"


def _of_folders(images: Sequence[str], *, has_labels: bool) -> Iterator[str]:
    """Yield what folders are, and the names of images; `has_labels`: lists have the classes."""
    folders = [name for way in images for name in _FIELD.findall(way.rpartition("/")[0])]
    if way := next((way for way in images if _LABEL.search(way)), ""):
        yield _classes(way)
    if "split" in folders:
        yield "folders are splits"
    if set(folders) - _MEANING:
        none = "" if has_labels or any(map(_LABEL.search, images)) else ", without classes"
        others = "other " * ("label" in folders or "split" in folders)
        yield f"{others}folders go into the json{none}"
    elif "_" in folders:
        yield "folders mean nothing"
    for split in {match[1]: None for match in map(_OTHERS.search, images) if match}:
        yield f"images that no list names are of the split {split}"


def _classes(way: str) -> str:
    """Return which folders of a template are classes."""
    folders = way.split("/")[:-1]
    at = next((at for at, part in enumerate(folders) if _LABEL.search(part)), -1)
    found = _LABEL.search(way)
    levels = found and found[1]
    if levels == "all":
        return "each folder that holds images is a class"
    if at < 0:
        return "names have the classes"
    if levels:
        return f"the first {levels} folders together are the class"
    fields = [bool(set(_FIELD.findall(part)) - {"label", "split"}) for part in folders]
    if any(fields[:at]):
        return "the last folder is the class" if not any(fields[at:]) else "a folder is the class"
    return "the first folder is the class" if any(fields[at:]) else "folders are classes"


def _of_lists(images: Sequence[str], lists: Sequence[ListTemplate]) -> Iterator[str]:
    """Yield what lists have."""
    joined = {name for way in images for name in _FIELD.findall(way)} | _MEANING
    joined |= {field.name for one in lists for field in one.fields if field.spec in _keys(one)}
    nouns: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for role, noun in (("label", "classes"), ("split", "splits")):
        having = [one for one in lists if any(field.name == role for field in one.fields)]
        if role == "split" and having and all(_CONSTANT.search(one.text) for one in having):
            yield "each list is a split"
        elif having:
            nouns[tuple(one.file for one in having)].append(noun)
    for known, both in nouns.items():
        which = "the same" if any(map(_LABEL.search, images)) and both[0] == "classes" else "the"
        yield f"{_listed(known)} {'have' if known[1:] else 'has'} {which} {' and '.join(both)}"
    if files := [one.file for one in lists if set(one.names) - joined]:
        is_part = any({"label", "split"} & set(one.names) for one in lists)
        yield f"{'other ' * is_part}values of {_listed(files)} go into the json"


def _keys(one: ListTemplate) -> set[str]:
    """Return the columns that name the images of a list."""
    return {field.spec for field in one.fields if field.name == "key" and field.spec}


def _listed(files: Sequence[str]) -> str:
    return listed(list(map(os.path.basename, files)), _SHOWN)
