"""Texts that list the images of each class or split: ``{"cat": [1, 4], "dog": [2, 3]}`` (pure).

Numbers and words alone are no evidence elsewhere; here, they are in lists that divide the images.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import yaml

from packer.sources.tables.image_names import Packed
from packer.sources.tables.name_tokens import Hashes, words_of
from packer.sources.tables.texts import LINE, Evidence, Text, as_number
from packer.sources.trees.walk import is_named_as_image
from packer.words import shortened

_DEEP = 2  # levels of objects in which groups are looked for
_LINE = re.compile(r"([^\W\d][^:=\t]*?)\s*[:=\t]\s*(.+)")
_YAML = (".yaml", ".yml")

_Groups = Mapping[str, Sequence[str]]


def grouped(text: Text, packed: Packed, known: Hashes, *, are_plain: bool) -> Evidence | None:
    """Return a text as evidence if its lists name most images, or most of some splits, once each.

    `known` are the keys that name images.
    """
    if text.share < 1 or text.paths[1:] or text.is_binary:
        return None
    for groups in _groups_in(text):
        images = [image for some in groups.values() for image in some]
        if len(groups) < 2 or len(set(images)) < len(images):
            continue
        words = words_of("\n".join(images).encode("utf-8", "replace"), are_plain=are_plain)
        words = words.take(np.isin(words.keys, known))
        named = int(packed.named(words).sum()) if len(words.keys) else 0
        if 2 * named < packed.count or named < max(2, len(images) / 2):
            continue
        shown = (f"{name}: {', '.join(some)}" for name, some in groups.items())
        lines = tuple(shortened(line, LINE) for line, _ in zip(shown, range(2), strict=False))
        stems = {os.path.splitext(one)[0] if is_named_as_image(one) else one for one in images}
        stems = {stem.rpartition("/")[2] for stem in stems}
        found = Evidence(text.paths, named, lines=lines)
        return replace(found, stems=frozenset(stems | set(map(as_number, stems))))
    return None


def _groups_in(text: Text) -> Iterator[_Groups]:
    content = text.text.decode("utf-8", "replace")
    value: Any = None
    with suppress(ValueError, RecursionError, yaml.YAMLError):
        if content.lstrip()[:1] in ("{", "["):
            value = json.loads(content)
        elif text.paths[0].lower().endswith(_YAML):
            value = yaml.safe_load(content)
    if value is not None:
        yield from _in_value(value, _DEEP)
        return
    lines = [_LINE.fullmatch(line.strip()) for line in content.split("\n") if line.strip()]
    pairs = [(line[1], re.split(r"[\s,;|]+", line[2])) for line in lines if line]
    if len(pairs) == len(lines) and any(some[1:] for _, some in pairs):
        yield dict(pairs)


def _in_value(value: Any, deep: int) -> Iterator[_Groups]:
    """Yield the lists of an object, and of the objects in it or in a list, by their names."""
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        each = [_named(one) for one in value]
        if value and all(each):
            yield dict(filter(None, each))
    elif isinstance(value, dict) and value:
        if all(map(_is_list, value.values())):
            yield {str(name): list(map(str, some)) for name, some in value.items()}
        elif deep:
            for inner in value.values():
                yield from _in_value(inner, deep - 1)


def _named(value: Mapping[str, Any]) -> tuple[str, list[str]] | None:
    """Return the name and the list of an object that has one of each."""
    names = [one for one in value.values() if isinstance(one, str)]
    lists = [list(map(str, one)) for one in value.values() if _is_list(one)]
    return (names[0], lists[0]) if len(names) == len(lists) == 1 else None


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(one) in (str, int) for one in value)
