"""From what a person gives, on the command line or in Python, to options that go together.

Defaults, checks and help of the keyword arguments are those of `declared`, which a test holds the
names to.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, TypedDict

from packer.errors import UnusableInput, said
from packer.images.tiles import can_tile
from packer.options.declared import OPTIONS, PackOptions, RunOptions, SourceOptions
from packer.options.kinds import FLAG, MEMBERS, PAIRS
from packer.words import Command, Message, NamedOption, Placeholder, Shell, bounded, flag, option
from reader.format import Limits, ShardfeedError
from reader.format.tar import MAX_MEMBER
from reader.store.urls import is_url

_REMEDY = "pip install numba, or install the package libjpeg-turbo-progs"
WITHOUT_TILER = (
    "neither numba nor jpegtran is installed, so JPEGs are stored without tiles and their "
    f"crops decode more slowly. To tile them: {_REMEDY}."
)


# What the dataset of ``--keys-of`` decides, or concerns images and their layout.
_DECIDED = (
    *("shard_size", "shard_samples", "seed", "split", "stratify", "dedupe", "raw", "max_side"),
    *("quality", "jpeg", "classes", "kind", "class_depth", "pairs", "root", "label_column"),
    *("split_column", "label_separator", "box_format", "images", "members", "labels", "ignore"),
    "append",
)


PathLike = str | os.PathLike[str]


class WriterArguments(TypedDict, total=False):
    """The options of a loop; None is the default of each."""

    classes: Sequence[str] | Literal["numeric"] | None
    image_column: str | None
    label_column: str | None
    split_column: str | None
    split: Mapping[str, float] | None
    shard_size: int | str | None
    shard_samples: int | None
    jpeg: str | None
    png: str | None
    check: bool | None
    max_side: int | None
    quality: int | None
    raw: tuple[int, int] | None
    columns: Sequence[str] | None
    on_error: str | None
    max_pixels: int | None
    max_bytes: int | None
    append: bool | None
    overwrite: bool | None
    jobs: int | None
    scratch: PathLike | None
    progress: bool | None


class PackArguments(WriterArguments, total=False):
    """The options of a source; None is the default of each."""

    shuffle: bool | None
    seed: int | None
    stratify: bool | None
    kind: str | None
    class_depth: int | str | None
    pairs: Mapping[str, PathLike] | None
    ignore: Sequence[str] | None
    dedupe: bool | None
    root: PathLike | None
    label_separator: str | None
    box_format: str | None
    images: str | Sequence[str] | None
    members: Mapping[str, str] | None
    labels: str | Sequence[str] | None
    keys_of: PathLike | None
    executor: Any


class PythonCall(Shell):
    """How options and commands are written in Python: as calls of `packer.pack`."""

    _REPLACED = ("kind", "class_depth", "pairs")

    def option(self, named: NamedOption) -> str:
        name, value = named.name, named.value
        text = _literal(value) if isinstance(value, str) else str(value)
        return f"{name}=" if value is None else f"{name}={text}"

    def command(self, asked: Command) -> str:
        chosen = _by_argument(asked.words)
        replaced = self._REPLACED if "images" in chosen else ()
        given = ((name, value) for name, value in self._given.items() if name not in replaced)
        kept = {name: value for name, value in given if value is not None}
        # What is no option may be secret: it is named only.
        each = (
            f"{name}={_literal(value, name) if name in OPTIONS else name}"
            for name, value in {**kept, **chosen}.items()
        )
        return f"packer.pack({', '.join([_literal(asked.source), _literal(self._dst), *each])})"


def _by_argument(words: Sequence[str]) -> dict[str, Any]:
    names, left = {flag(name): name for name in OPTIONS}, iter(words)
    found: dict[str, Any] = {}
    for word in left:
        name = names[word]
        kind = OPTIONS[name].kind
        if kind is FLAG:
            found[name] = True
            continue
        text = next(left)
        if kind in (PAIRS, MEMBERS):
            key, _, value = text.partition("=")
            found[name] = {**found.get(name, {}), key: value}
        else:
            found[name] = [*found.get(name, ()), text] if kind.is_repeated else kind.read(text)
    return found


def _literal(value: Any, name: str = "...") -> str:
    """Return a value as a program writes it; `name` for one that is no literal."""
    if isinstance(value, (str, os.PathLike)):
        text = os.fsdecode(value)
        return text if isinstance(value, Placeholder) else json.dumps(text, ensure_ascii=False)
    if isinstance(value, Mapping):
        items = (f"{_literal(key)}: {_literal(one, name)}" for key, one in value.items())
        return f"{{{', '.join(items)}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_literal(one, name) for one in value)}]"
    return repr(value) if value is None or isinstance(value, (int, float)) else name


@contextmanager
def python_call(dst: Any = "", given: Mapping[str, Any] | None = None) -> Iterator[PythonCall]:
    """Write errors as Python has options and commands.

    `given` are the arguments beside source and `dst`.
    """
    call = PythonCall(dst, given)
    try:
        yield call
    except ShardfeedError as error:
        text = bounded(said(error, call))
        error.args = tuple(text if isinstance(one, str) else one for one in error.args)
        raise


def shown(call: Callable[..., Any], arguments: type) -> Any:
    """Return the signature of a `call` with each of its keyword `arguments`, for `help`."""
    *own, _ = signature(call).parameters.values()
    keywords = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=OPTIONS[name].default, annotation=kind)
        for name, kind in arguments.__annotations__.items()
    ]
    places = [one for one in own if one.kind is not Parameter.KEYWORD_ONLY]
    return signature(call).replace(parameters=[*places, *keywords, *own[len(places) :]])


def checked(given: Mapping[str, Any], arguments: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in arguments.__annotations__:
            raise TypeError(f"Unknown keyword argument {name!r}.")
        kind = OPTIONS[name].kind
        try:
            found |= {} if value is None else {name: kind.check(value)}
        except (TypeError, ValueError, AttributeError):
            raise UnusableInput(f"{name} must be {kind.asks}, not {value!r:.200}.") from None
    return found


def place_of(name: str, value: Any) -> Path | str:
    try:
        return str(value) if is_url(value) else Path(os.fsdecode(value))
    except TypeError:
        raise UnusableInput(f"{name} must be a path, not {value!r:.200}.") from None


def options_of(src: Path | None, given: Mapping[str, Any]) -> tuple[PackOptions, RunOptions]:
    """Return the options of a run, unless they exclude each other; `src` is a local source."""
    asked = {name: value for name, value in given.items() if value is not None}
    _refuse(src, asked)
    pairs, root = asked.pop("pairs", {}), asked.pop("root", None)
    if src is not None:
        asked["pairs"] = {name: _relative(folder, src) for name, folder in pairs.items()}
        if root is not None:
            asked["root"] = _relative(root, Path(os.path.realpath(src)).parent)
    if not asked.get("shuffle", True):
        asked["seed"] = None
    limits = limits_of(asked.get("max_pixels"), asked.get("max_bytes"))
    is_tiled = "keys_of" not in asked and can_tile()
    asked.setdefault("jpeg", "tiled" if is_tiled else "verbatim")
    of_source, of_bytes, of_run = (
        {one.name: asked[one.name] for one in fields(options) if one.name in asked}
        for options in (SourceOptions, PackOptions, RunOptions)
    )
    source = SourceOptions(**of_source)
    return PackOptions(**of_bytes, source=source, limits=limits), RunOptions(**of_run)


def limits_of(pixels: int | None, most: int | None) -> Limits:
    """Return the limits of images, the usual ones where they are None; `most` are bytes."""
    if most is not None and most > MAX_MEMBER:
        reason = f"a file in a tar has at most {MAX_MEMBER} bytes. Pass a smaller limit."
        raise UnusableInput(option("max_bytes", most), " is too large: ", reason)
    return Limits(pixels or Limits.pixels, most or Limits.bytes)


def _refuse(src: Path | None, asked: Mapping[str, Any]) -> None:
    adds, replaces = option("append", True), option("overwrite", True)
    has_base = [asked.get("append"), asked.get("overwrite")]
    if all(has_base):
        text = "{} and {} exclude each other. Pass {} to add to a dataset, or {} to replace it."
        raise UnusableInput(Message.of(text, adds, replaces, adds, replaces))
    if "part" in asked and any(has_base):
        text = "{} requires a new dataset. Remove {} and {}."
        raise UnusableInput(Message.of(text, option("part"), adds, replaces))
    jpeg, png, raw = (asked.get(name) for name in ("jpeg", "png", "raw"))
    if asked.get("check") and jpeg == png == "verbatim":
        checks, both = option("check", True), (option("jpeg", jpeg), option("png", png))
        text = "{} compares transcoded images, and {} and {} transcode none. Remove {}."
        raise UnusableInput(Message.of(text, checks, *both, checks))
    decided = [*filter(asked.get, _DECIDED), *["shuffle"] * (not asked.get("shuffle", True))]
    if "keys_of" in asked and decided:
        raise UnusableInput(
            Message.of(
                "{} packs members for the samples of another dataset, in its shards and its order. "
                "Remove {}.",
                option("keys_of", asked["keys_of"]),
                option(decided[0]),
            )
        )
    if asked.get("stratify") and "split" not in asked:
        divides, shares = option("stratify", True), option("split", {"train": 0.9, "val": 0.1})
        text = "{} divides each class by the shares of {}. Add {}, or remove {}."
        raise UnusableInput(Message.of(text, divides, option("split"), shares, divides))
    if src is None and (asked.get("pairs") or asked.get("root")):
        raise UnusableInput(
            Message.of(
                "{} and {} name local folders, and the source is not a local path. For a source in "
                "a store, pack the folder that has all files.",
                option("pairs"),
                option("root"),
            )
        )
    if raw is not None and {"jpeg", "png", "max_side", "quality"} & asked.keys():
        others = map(option, ("jpeg", "png", "max_side", "quality"))
        text = "{} stores pixels. Remove {}, {}, {} and {}."
        raise UnusableInput(Message.of(text, option("raw"), *others))
    if jpeg == "tiled" and not can_tile():
        raise UnusableInput(option("jpeg", "tiled"), f" needs numba or jpegtran: {_REMEDY}.")


def _relative(path: Path, start: Path) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(start))
