"""The arguments of `packer.pack` and `packer.Writer`, each with its rule; errors in their words."""

import operator
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from packer.errors import LONGEST_LINE, Rejected, UnusableInput, told
from packer.planning.shard_size import SMALLEST, byte_size
from packer.sources.options import FORMATS, KINDS
from packer.sources.table.columns import SPLIT_NAME
from packer.words import abridged
from reader.format import Limits, ShardfeedError
from reader.format.tar import MAX_MEMBER
from reader.remote.url import is_url

Rule = tuple[Callable[[Any], Any], str]  # raises ValueError or TypeError; what it asks for


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those arguments that are not None, as the options have them.

    Raises:
        UnusableInput: one is not of its kind, or two do not go together.
    """
    found = {}
    for name, value in given.items():
        if value is None or name not in _RULES:
            continue
        convert, kind = _RULES[name]
        try:
            found[name] = convert(value)
        except (TypeError, ValueError, AttributeError):
            raise UnusableInput(f"{name} is {kind}, not {value!r:.200}.") from None
    if found.get("append") and found.get("overwrite"):
        raise UnusableInput("--append adds to a dataset and --overwrite replaces it: give one.")
    return found


def shaping(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Of what was `checked`, that which shapes the shards, as `chosen` takes it."""
    limits = Limits(asked.get("max_pixels", Limits.pixels), asked.get("max_bytes", Limits.bytes))
    found = {name: value for name, value in asked.items() if name not in _OF_RUN}
    return found | {"limits": limits}


def path_of(name: str, value: Any) -> Path:
    """The path that an argument is.

    Raises:
        UnusableInput: it is not a path.
    """
    try:
        return Path(os.fsdecode(value))
    except TypeError:
        raise UnusableInput(f"{name} is a path, not {value!r:.200}.") from None


def place_of(name: str, value: Any) -> Path | str:
    """The path or the URL that an argument is.

    Raises:
        UnusableInput: it is neither.
    """
    return str(value) if is_url(value) else path_of(name, value)


@contextmanager
def in_pythons_words() -> Iterator[None]:
    """Have errors say what they would on the command line, with arguments in place of options."""
    try:
        yield
    except ShardfeedError as error:
        if isinstance(error, Rejected):  # whose files the command names on its own
            error.args = ("\n  ".join([*error.args, *told(error.files, noun=error.noun)]),)
        error.args = tuple(_in_python(text) for text in error.args)
        raise


def _in_python(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    text = "\n".join(abridged(line, LONGEST_LINE) for line in text.split("\n"))
    return _OPTION.sub(_argument, _COMMAND.sub(r"\1 call", text))


def _argument(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[0]
    name, value = match[1].replace("-", "_"), match[2] or ""
    name = {"as": "kind", "pair": "pairs", "no_shuffle": "shuffle"}.get(name, name)
    if value.isdigit():
        return f"{name}={value}"
    if value in _VALUES:
        return f'{name}="{value}"'
    return f"{name}={'True' * (name in _FLAGS)} {value}".rstrip()


_COMMAND = re.compile(r"\b(the same|this) command\b")
# A command of the shell stays one.
_OPTION = re.compile(
    r"packer pack(?: --explain| \S+ DST --[a-z-]+)|--([a-z][a-z-]*[a-z])(?: ([a-z]+|\d+))?"
)
_VALUES = ("skip", "stop", "tiled", "banded", "verbatim", "all", "none", *FORMATS, *KINDS)
_FLAGS = ("append", "overwrite", "check", "dedupe")


def _whole(least: int | None = None, most: int | None = None) -> Rule:
    def convert(value: Any) -> int:
        number = operator.index(value)
        if isinstance(value, bool) or not (
            (least is None or least <= number) and (most is None or number <= most)
        ):
            raise ValueError
        return number

    if least is None:
        return convert, "an integer"
    return convert, f"an integer of at least {least}" if most is None else (
        f"an integer from {least} to {most}"
    )


def _one_of(*values: str) -> Rule:
    return lambda value: values[values.index(value)], f"one of {', '.join(map(repr, values))}"


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _size(value: Any) -> tuple[int, int]:
    height, width = value
    return _whole(1)[0](height), _whole(1)[0](width)


def _shares(value: Any) -> dict[str, float]:
    shares = {str(name): float(share) for name, share in value.items()}
    if not all(map(SPLIT_NAME.fullmatch, shares)) or abs(sum(shares.values()) - 1) > 1e-6:
        raise ValueError
    return shares


def _depth(value: Any) -> int:
    return -1 if value == "all" else _whole(1, 99)[0](value)


def _names(value: Any) -> tuple[str, ...]:
    names = tuple(map(_text, value))
    if isinstance(value, str) or len(set(names)) < len(names):
        raise ValueError
    return names


def _folder(value: Any) -> Path:
    path = Path(os.fsdecode(value))
    if not path.is_dir():
        raise ValueError
    return path


def _pairs(value: Any) -> dict[str, Path]:
    names = {name.removesuffix("?") for name in value}
    if len(names) < len(value) or not all(re.fullmatch(r"[a-z0-9_-]+", name) for name in names):
        raise ValueError
    return {name: _folder(path) for name, path in value.items()}


_OF_RUN = {
    *("jobs", "classes", "on_error", "max_pixels", "max_bytes", "append", "overwrite", "progress"),
}
_BOOL: Rule = (_flag, "True or False")
_NAME: Rule = (_text, "a name")
_RULES: Mapping[str, Rule] = {
    "jobs": _whole(1),
    "shard_size": (lambda value: byte_size(value, SMALLEST), "bytes, or a size such as '500MB'"),
    "shard_samples": _whole(1),
    "shuffle": _BOOL,
    "seed": _whole(),
    "split": (_shares, "names with shares that make 1, such as {'train': 0.9, 'val': 0.1}"),
    "jpeg": _one_of("tiled", "verbatim"),
    "png": _one_of("banded", "verbatim"),
    "check": _BOOL,
    "max_side": _whole(1),
    "quality": _whole(1, 100),
    "raw": (_size, "a height and a width"),
    "kind": _one_of(*KINDS),
    "class_depth": (_depth, "a number of levels from 1 on, or 'all'"),
    "pairs": (_pairs, "a folder for each name, such as {'mask': 'masks'}"),
    "classes": (_names, "class names in label order, each once"),
    "dedupe": _BOOL,
    "root": (_folder, "a folder"),
    "image_column": _NAME,
    "label_column": _NAME,
    "split_column": _NAME,
    "label_separator": _NAME,
    "box_format": _one_of(*FORMATS),
    "on_error": _one_of("stop", "skip"),
    "max_pixels": _whole(1),
    "max_bytes": _whole(1, MAX_MEMBER),
    "append": _BOOL,
    "overwrite": _BOOL,
    "progress": _BOOL,
}
