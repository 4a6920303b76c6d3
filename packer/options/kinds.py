"""Options, and their values as a command line, Python and dataset.json have them (pure)."""

import operator
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from packer.options.part import Part
from packer.words import flag
from reader.store.urls import is_url

Check = Callable[[Any], Any]  # raises TypeError or ValueError

SPLIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,254}")  # a folder's name: at most 255 bytes
NUMERIC = "numeric"  # the order of classes that are whole numbers
_ENGINE = re.compile(r"local|ray|(ray|dask)://[^/\s:]+:\d+")
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}

SECTIONS = "Source", "Stored data", "Splits, shards and order", "Errors and limits", "This run"


@dataclass(frozen=True)
class Kind:
    """The values that an option takes."""

    check: Check  # returns a Python value as it is used; raises TypeError or ValueError
    asks: str  # what a value must be; completes "shard_size must be ..."
    metavar: str  # stands for the value in ``--help``; "" for a flag
    read: Callable[[str], Any] = str  # makes a Python value of a command line's text, or raises
    stored: Check | None = None  # checks a value in dataset.json, which anybody may have written
    choices: tuple[str, ...] = ()  # all values, where there are few
    is_repeated: bool = False  # whether the option is given several times on a command line

    def parse(self, text: str) -> Any:
        """Return the value of a command line's text; raises ValueError with a sentence."""
        try:
            value = self.read(text)
            return value if self.is_repeated else self.check(value)
        except (TypeError, ValueError) as error:
            message = str(error)
            sentence = message if message.endswith(".") else f"{text!r} is not {self.asks}."
            raise ValueError(sentence) from None

    def load(self, value: Any) -> Any:
        """Return a value of dataset.json; raises TypeError or ValueError."""
        return None if value is None else (self.stored or self.check)(value)


@dataclass(frozen=True)
class Option:
    name: str  # of the Python argument
    kind: Kind  # of its values
    help: str  # a text for ``--help``
    section: str  # of ``--help``
    default: Any = None  # value without it, as ``--help`` shows it; None: the help text names it
    aliases: tuple[str, ...] = ()  # further spellings on a command line

    @property
    def flag(self) -> str:
        return flag(self.name)


def declare(
    section: str, kind: Kind, help: str, default: Any = None, make: Any = None, **more: Any
) -> Any:
    """Return the field of a dataclass that is an option; `make` gives a default of no literal."""
    made = {"kind": kind, "help": help, "section": section, "default": default, **more}
    if make := make or (type(default) if default in ({}, ()) else None):
        return field(default_factory=make, metadata={**made, "default": None})
    return field(default=default, metadata=made)


def whole(least: int | None = None, most: int | None = None) -> Kind:
    asks = "an integer"
    if least is not None:
        asks += f" of at least {least}" if most is None else f" from {least} to {most}"

    def check(value: Any) -> int:
        number = operator.index(value)
        below = least is not None and number < least
        if isinstance(value, bool) or below or (most is not None and number > most):
            raise ValueError
        return number

    return Kind(check, asks, "N", int)


def one_of(*choices: str) -> Kind:
    asks = f"one of {', '.join(map(repr, choices))}"
    metavar = f"[{'|'.join(choices)}]"
    return Kind(lambda value: choices[choices.index(value)], asks, metavar, choices=choices)


def size(least: int = 1) -> Kind:
    """Return the kind of numbers of bytes, such as ``500MB``, ``1GB`` or ``2GiB``."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise TypeError
        text = str(value)
        upper = text.strip().upper().removesuffix("B")
        number = upper.rstrip("KMGTI")
        try:
            found = int(float(number) * _UNITS[upper[len(number) :]])
        except (KeyError, ValueError, OverflowError):
            raise ValueError(f"{text!r} is not a size such as 500MB, 1GB or 2GiB.") from None
        if 0 < found < least:
            hint = f"For megabytes, pass {number.strip()}MB."
            raise ValueError(f"{text!r} is {found} bytes, which is too small. {hint}")
        if found < 1:
            raise ValueError(f"{text!r} is not a size of at least one byte.")
        return found

    return Kind(check, "bytes, or a size such as '500MB'", "SIZE", stored=whole(1).check)


def _instance(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


_flag, _text = partial(_instance, bool), partial(_instance, str)


def _height_width(value: Any) -> tuple[int, int]:
    height, width = map(whole(1).check, value)
    return height, width


def _read_height_width(text: str) -> tuple[int, int]:
    if match := re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", text):
        return int(match[1]), int(match[2])
    raise ValueError(f"{text!r} is not a height and width such as 32x32.")


def _shares(value: Any) -> dict[str, float]:
    shares = {str(name): float(share) for name, share in dict(value).items()}
    if not all(map(SPLIT_NAME.fullmatch, shares)):
        raise ValueError
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise ValueError(f"the shares of {', '.join(shares)} do not add up to 1.")
    return shares


def _read_shares(text: str) -> dict[str, str]:
    found = [part.strip().partition("=") for part in text.split(",")]
    shares = {name: share for name, _, share in found}
    valid = (SPLIT_NAME.fullmatch(n) and re.fullmatch(r"\d*\.?\d+", s) for n, s in shares.items())
    if len(shares) < len(found) or not all(valid):
        raise ValueError(
            f"{text!r} is not of the form train=0.9,val=0.1, with names of at most 255 characters."
        )
    return shares


def _folder(value: Any) -> Path:
    path = Path(os.fsdecode(value))
    if not path.is_dir():
        raise ValueError(f"{str(path)!r} is not a folder. Create it first, or correct the path.")
    return path


def _templates(value: Any) -> tuple[str, ...]:
    return tuple(map(_text, [value] if isinstance(value, str) else value))


def _by_name(names: str, check: Check, form: str, noun: str, such: str, metavar: str) -> Kind:
    """Return the kind of values by the names of members, in which a ? marks one as optional."""

    def checked(value: Any, check: Check = check) -> dict[str, Any]:
        pairs = list(value.items() if isinstance(value, Mapping) else value)
        if len({name.replace("?", "", 1) for name, _ in pairs}) < len(pairs):
            raise ValueError(f"each NAME has one {noun}.")
        if not all(re.fullmatch(names, name) for name, _ in pairs):
            raise ValueError
        return {name: check(one) for name, one in pairs}

    def read(text: str) -> tuple[str, Any]:
        name, _, value = text.partition("=")
        if not value or not re.fullmatch(names, name):
            raise ValueError(f"{text!r} is not of the form {form}.")
        return name, check(value)

    asks, stored = f"a {noun} for each name, such as {such}", partial(checked, check=_text)
    return Kind(checked, asks, metavar, read, stored, is_repeated=True)


def _globs(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError
    return tuple(_glob(_text(one)) for one in value)


def _glob(text: str) -> str:
    parts = text.split("/")
    if not text or ".." in parts or text.startswith(("/", "./")):
        raise ValueError(f"{text!r} is not a glob relative to the source, such as 'imdb/**'.")
    return text


def _names(value: Any) -> tuple[str, ...]:
    names = tuple(map(_text, value))
    if isinstance(value, str) or len(set(names)) < len(names):
        raise ValueError
    return names


def _fields(value: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.removeprefix("json.") for name in _names(value) if name))


def _read_names(file: str) -> tuple[str, ...] | str:
    if file == NUMERIC and not Path(file).is_file():
        return NUMERIC
    try:
        content = Path(file).read_text("utf-8")
    except OSError as error:
        raise ValueError(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError:
        raise ValueError(f"{file} is not UTF-8 text. Convert it first.") from None
    names = tuple(line.strip() for line in content.splitlines() if line.strip())
    if len(set(names)) < len(names):
        raise ValueError(f"{file} has a class twice. Remove the second line of it.")
    return names


def _engine(value: Any) -> Any:
    from concurrent.futures import Executor  # which commands do not need

    if not (isinstance(value, Executor) or _ENGINE.fullmatch(value)):
        raise ValueError
    return value


FLAG = Kind(_flag, "True or False", "")
TEXT = Kind(_text, "a name", "TEXT")
HEIGHT_WIDTH = Kind(_height_width, "a height and a width", "HxW", _read_height_width)
SHARES = Kind(
    _shares,
    "names with shares that add up to 1, such as {'train': 0.9, 'val': 0.1}",
    "train=0.9,val=0.1",
    _read_shares,
)
DEPTH = Kind(
    lambda value: -1 if value == "all" else whole(1, 99).check(value),
    "a number of levels of at least 1, or 'all'",
    "N|all",
    lambda text: text if text == "all" else int(text),
    whole(-1).check,
)
NEW_FOLDER = Kind(lambda value: Path(os.fsdecode(value)), "a path", "DIR")  # it need not exist
FOLDER = Kind(_folder, "a folder", "DIR", stored=_text)
DATASET = Kind(
    lambda value: value if is_url(value) else _folder(value),
    *("the folder or URL of a dataset", "DATASET"),
)
PAIRS = _by_name(
    r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\??",
    _folder,
    "mask=DIR or mask?=DIR",
    *("folder", "{'mask': 'masks'}"),
    "NAME=DIR",
)
TEMPLATES = Kind(
    _templates, "a template such as '{label}/{key}', or several", "TEMPLATE", is_repeated=True
)
LISTS = Kind(
    _templates,
    "a list and its fields, such as 'list.txt: {key} {label}', or several",
    "'FILE: FIELDS'",
    is_repeated=True,
)
MEMBERS = _by_name(
    r"[a-z0-9_-]+\??(\.[a-z0-9_-]+)*|[a-z0-9_-]+(\.[a-z0-9_-]+)*\??",
    _text,
    "mask.png=TEMPLATE or mask?.png=TEMPLATE",
    *("template", "{'mask.png': 'masks/{key}.png'}"),
    "NAME=TEMPLATE",
)
GLOBS = Kind(_globs, "globs, such as ('imdb/**',)", "GLOB", _glob, is_repeated=True)
ENGINE = Kind(
    _engine,
    "one of local, ray, ray://HOST:PORT and dask://HOST:PORT, or an Executor in Python",
    "local|ray[://HOST:PORT]|dask://HOST:PORT",
)
CLASSES = Kind(
    lambda value: NUMERIC if value == NUMERIC else _names(value),
    *("class names in label order, each once, or 'numeric'", "FILE|numeric", _read_names),
)
COLUMNS = Kind(
    _fields,
    "a list of fields of the JSON, such as ['caption', 'size.width']",
    "FIELD,...",
    lambda text: tuple(name.strip() for name in text.split(",")),
)
PART = Kind(lambda text: Part.of(text, os.environ), "a part", "I/N|slurm")
