"""The rules for a dataset's arguments, except for those that need the dataset."""

import re
from collections.abc import Mapping
from typing import Any

from reader.checks import FLAG, FUNCTION, NAME, PATH, Rule, is_count, is_text, one_of, or_none
from reader.format import Limits

_MEMBER = re.compile(r"[a-z0-9_-]+")


def _is_join(given: Any) -> bool:
    if isinstance(given, Mapping):
        return all(is_text(name) and _MEMBER.fullmatch(name) for name in given) and (
            all(map(PATH[0], given.values()))
        )
    return PATH[0](given) or (isinstance(given, (list, tuple)) and all(map(PATH[0], given)))


_TRANSFORM: Rule = (
    or_none(callable),
    "a function of a PIL image, or None (reader's own transforms are for reader.Loader)",
)
OF_DATASET: dict[str, Rule] = {
    "folder": PATH,
    "split": NAME,
    "upright": FLAG,
    "join": (
        or_none(_is_join),
        "the path of a folder, a list of them, or a dict of them by names of lower-case letters, "
        "digits, - and _",
    ),
    "transform": _TRANSFORM,
    "target_transform": _TRANSFORM,
    "target": (one_of(None, "coco"), '"coco" or None'),
    "channels": (lambda given: is_count(given) and given in (1, 3), "3 for RGB or 1 for grey"),
    "cache": (one_of(None, "ram"), '"ram" or None; a Loader takes "decoded" too'),
    "cache_dir": (or_none(PATH[0]), PATH[1]),
    "storage_options": (
        or_none(lambda given: isinstance(given, Mapping)),
        "a dict of options of the store, or None",
    ),
    "credential_provider": FUNCTION,
    "cache_limit": (or_none(is_count), "a number of bytes, an integer such as 10**9, or None"),
    "limits": (
        lambda given: (
            isinstance(given, Limits) and is_count(given.pixels) and is_count(given.bytes)
        ),
        "a reader.Limits of integers",
    ),
}
