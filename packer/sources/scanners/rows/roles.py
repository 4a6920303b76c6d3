"""What the fields of a container's entries are: the image, its label, its name, its objects (pure).

Names such as ``image/class/label`` are judged by their last part.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.options.declared import SourceOptions
from packer.sources.containers.entries import Blob, Entry
from packer.sources.tables.columns import Columns
from packer.sources.tables.names import IMAGE, LABEL
from packer.sources.tables.table import Table
from packer.sources.trees.shape import may_be_masks, plain
from packer.words import listed, option

_NAMED = (
    *("filename", "imagefilename", "path", "filepath", "imagepath", "imagename", "file", "fname"),
    *("key", "imageid", "sourceid", "id"),
)
_CLASS_NAMES = ("synset", "text", "name", "labelname", "labeltext", "classname", "categoryname")
_SIZES = (("height", "width"), ("rows", "cols"))
_LIST = "a list"
_CHANNELS = ("depth", "channels", "channel")


@dataclass(frozen=True)
class _Fields(Table):
    """The fields as the columns of a table."""

    def records(self, columns: Sequence[str] | None = None) -> Any:
        raise NotImplementedError

    @classmethod
    def of(cls, file: Watched, entries: Iterable[Entry]) -> "_Fields":
        kinds: dict[str, str] = {}
        for entry in entries:
            for name, value in entry.fields.items():
                if value is not None and kinds.get(name) != _LIST:
                    kinds[name] = kind_of(value)
        compound = {n: kind for n, kind in kinds.items() if kind not in ("text", "number")}
        return cls((file,), tuple(kinds), compound)


@dataclass(frozen=True)
class Roles:
    """The roles of fields; every other one is a member, or in the JSON of its sample."""

    fields: Table
    columns: Columns
    pictures: tuple[str, ...]  # further fields with images, which are members
    class_names: tuple[str, ...]  # fields that may name the classes of labels, best first
    names: tuple[str, ...]  # fields that may name the samples, best first

    @classmethod
    def find(
        cls,
        file: Watched,
        entries: Sequence[Entry],
        declared: Mapping[str, Sequence[str]],
        options: SourceOptions,
    ) -> "Roles":
        """Return them by some entries; `declared`: fields of labels, with the classes.

        `file` has the first of them.
        """
        fields, where = _Fields.of(file, entries), file.path
        images = dict.fromkeys(
            name
            for entry in entries
            for name, value in entry.fields.items()
            if is_image(value, entry.fields)
        )
        image = _image(fields, list(images), options.image_column, where)
        plain_names = {name: plain(_last(name)) for name in fields.columns}
        texts = [n for n in fields.columns if n not in fields.compound and not is_of_objects(n)]
        labels = [n for n in texts if n in declared] or [
            n for n in texts if plain_names[n] in (*LABEL, "y") and n != image
        ]
        fields = replace(fields, class_names=dict.fromkeys(labels, ()))
        columns = Columns.find(fields, options, where, image)
        columns = replace(columns, box=None, is_object=False)
        prefix = (columns.label or "").rpartition("/")[0]
        named = [n for n in texts if n != columns.label and n.rpartition("/")[0] == prefix]
        return cls(
            fields,
            columns,
            tuple(name for name in images if name != image),
            tuple(n for word in _CLASS_NAMES for n in named if plain_names[n] == word),
            tuple(n for word in _NAMED for n in texts if plain_names[n] == word),
        )


def kind_of(value: Any) -> str:
    """Return what a value is, for a person."""
    if isinstance(value, Blob):
        return "an image" if value.is_image else "bytes"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) else _LIST


def is_image(value: Any, fields: Mapping[str, Any]) -> TypeGuard[Blob]:
    """Return whether a value of an entry is an image that is encoded, or pixels."""
    return isinstance(value, Blob) and bool(value.is_image or shape_of(value, fields))


def shape_of(blob: Blob, fields: Mapping[str, Any]) -> list[int] | None:
    """Return the height, width and channels of pixels; None for others.

    They are known, or the entry has them as fields.
    """
    if isinstance(shape := blob.place[-1], list):
        return shape
    if blob.extension:
        return None
    known = {plain(_last(name)): v for name, v in fields.items() if isinstance(v, int) and v > 0}
    for height, width in _SIZES:
        if height in known and width in known:
            channels, rest = divmod(blob.size, known[height] * known[width])
            declared = next((known[name] for name in _CHANNELS if name in known), channels)
            if not rest and channels in (1, 3) and channels == declared:
                return [known[height], known[width], channels]
    return None


def extension(blob: Blob) -> str:
    """Return the extension of a member that a field is."""
    if blob.head.startswith(b"\x93NUMPY") or isinstance(blob.place[-1], list):
        return "npy"
    return blob.extension or "bin"


def _image(fields: _Fields, images: Sequence[str], chosen: str | None, where: object) -> str:
    kinds = [f"{name} ({fields.compound.get(name, 'text or number')})" for name in fields.columns]
    has = f"Its fields are {listed(kinds, 20) or 'none'}."
    if chosen is not None and chosen not in fields.columns:
        raise UnusableInput(f"{where} has no field of ", option("image_column", chosen), f". {has}")
    if chosen is not None and chosen not in images:
        raise UnusableInput(
            f"{where}: the field {chosen!r} (", option("image_column"), f") holds no images. {has}"
        )
    if not images:
        raise UnusableInput(
            f"{where}: no field holds images in a known format, or pixels whose height and width "
            f"are fields, too. {has} Pack it from Python: docs/packing/python.md."
        )
    usual = [name for word in IMAGE for name in images if plain(_last(name)) == word]
    others = [name for name in images if not may_be_masks(_last(name))]
    return chosen or next(iter((*usual, *others, *images)))


def _last(name: str) -> str:
    return re.split(r"[/.]", name)[-1]


def is_of_objects(name: str) -> bool:
    """Return whether a field has a value for each object of an image."""
    return re.search(r"\bobjects?/", name) is not None
