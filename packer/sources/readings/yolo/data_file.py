"""YOLO's data files, with the names of the classes and the folders of each split.

ultralytics' is YAML (https://docs.ultralytics.com/datasets/detect/), darknet's has lines of
``name = value`` (https://github.com/AlexeyAB/darknet).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from packer.errors import UnusableInput

SPLITS = ("train", "val", "valid", "test", "minival")
_LONGEST = 1 << 20  # characters of YAML
_NOTHING = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True)
class DataFile:
    """The content of a data file; paths are unchanged, "" for none."""

    names: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # folders, lists of a split
    names_file: str = ""  # has the names of the classes instead of `names`, one a line
    base: str = ""  # the folder that `parts` are relative to
    keypoints: int = 0  # numbers that a label has behind its box


def of_yaml(text: str, where: object, *, needs_parts: bool = True) -> DataFile | None:
    """Return the data file in YAML; None if it is another kind of YAML.

    Without `needs_parts` it may have only the names of the classes.
    """
    if len(text) > _LONGEST:
        return None
    try:
        # All is text, as a class may be called no. The loader in C crashes on deep nesting.
        content = yaml.load(text, yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    if not isinstance(content, dict) or not {"names", "nc"} & content.keys():
        return None
    if needs_parts and not {"train", "val"} & content.keys():
        return None
    parts = {name: _paths(content.get(name), name, where) for name in SPLITS}
    return DataFile(
        _names(content.get("names"), content.get("nc"), where),
        {name: paths for name, paths in parts.items() if paths},
        base=_text(content.get("path")),
        keypoints=_keypoints(content.get("kpt_shape"), where),
    )


def of_lines(text: str) -> DataFile | None:
    """Return the data file that lines of ``name = value`` are; None if they are something else."""
    content = {}
    for line in text.splitlines():
        name, is_value, value = line.partition("#")[0].partition("=")
        if is_value:
            content[name.strip()] = value.strip()
    if "names" not in content or not {"train", "valid"} & content.keys():
        return None
    parts = {name: (content[name],) for name in SPLITS if content.get(name)}
    return DataFile(parts=parts, names_file=content["names"])


def _names(names: Any, count: Any, where: object) -> tuple[str, ...]:
    if isinstance(names, dict):
        numbered = {key: name for key, name in names.items() if _is_whole(key)}
        names = [numbered.get(str(number)) for number in range(len(names))]
        if None in names:
            raise UnusableInput(
                f"{where}: the numbers of its names have a gap: {names.index(None)} is "
                "missing. Add a name for it."
            )
    if names in (None, "") and _is_whole(count) and int(count) <= 10**6:
        names = list(map(str, range(int(count))))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UnusableInput(f"{where}: names is neither a list of names nor numbers with names.")
    if _is_whole(count) and int(count) != len(names):
        raise UnusableInput(
            f"{where}: nc is {int(count)}, and names has {len(names)} classes. "
            "Correct one of the two."
        )
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UnusableInput(f"{where}: two classes have the name {twice!r}.")
    return tuple(names)


def _paths(value: Any, name: str, where: object) -> tuple[str, ...]:
    paths = value if isinstance(value, list) else [value]
    if not all(path is None or isinstance(path, str) for path in paths):
        raise UnusableInput(f"{where}: {name} is neither a path nor a list of paths.")
    return tuple(filter(None, map(_text, paths)))


def _keypoints(shape: Any, where: object) -> int:
    if shape in (None, *_NOTHING):
        return 0
    if not isinstance(shape, list) or len(shape) != 2 or not all(map(_is_whole, shape)):
        raise UnusableInput(f"{where}: kpt_shape is not two numbers, such as [17, 3].")
    return math.prod(map(int, shape))


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) and value.strip() not in _NOTHING else ""


def _is_whole(value: Any) -> bool:
    return isinstance(value, str) and value.isdecimal() and len(value) < 9
