"""Items of a dataset: the image, the label, and the other members of a sample."""

import datetime
import io
import re
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from packer.errors import BadImage
from packer.images.encode import png
from packer.images.probe import PILLOW_ERRORS, extension_of
from packer.keys import MAX_NAME, escape
from packer.samples.labels import class_number, to_json
from packer.sources.scanners.python import values
from packer.sources.tables.columns import listed, split_text
from packer.sources.trees.sidecars import EXTENSION
from reader.format.members import PICTURES, kind_of, picture_format
from reader.format.pictures import opened

_METADATA = re.compile(r"__.*__")  # of webdataset's: where a sample came from


@dataclass(frozen=True)
class Item:
    """The stored content of an item."""

    image: bytes | Image.Image  # an image file's bytes, or pixels
    label: int  # class number, -1 without one
    key: str | None  # as the item gives it; None: it gives none
    split: str  # "" for none
    members: Mapping[str, bytes]  # by extension


@dataclass(frozen=True)
class Fields:
    """The fields of an item."""

    image: str = "image"  # the field that holds the image
    label: str | None = None  # None: "label", if there is such a field
    split: str | None = None  # None: "split", if there is such a field
    classes: tuple[str, ...] = ()  # class names in label order; empty: labels are numbers
    # Those of the dataset's own numbers, "" for one that none has; empty: `classes`.
    declared: tuple[str, ...] = ()

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.classes)}

    def item(self, value: Any) -> Item:
        """Return what is stored for a dict of fields, a pair (image, label), or an image."""
        fields = self._fields(value)
        for name in filter(None, (self.image, self.label, self.split)):
            if name not in fields:
                chosen = " Choose the one with the image by image_column=" * (name == self.image)
                raise BadImage(f"it has no field {name!r}, but {listed(list(fields))}.{chosen}")
        image = values.image_of(fields.pop(self.image))
        label = self._label(fields.pop(self.label or "label", None))
        split = split_text(fields.pop(self.split or "split", None))
        key = fields.pop("key", None)
        return Item(image, label, key_of(key), split, members_of(fields, image))

    def _fields(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Mapping) and not values.is_file(value):
            return self._of_webdataset(value) if "__key__" in value else dict(value)
        if not isinstance(value, tuple):
            return {self.image: value}
        if len(value) != 2:
            raise BadImage(
                f"it is a tuple of {len(value)}, and only (image, label) is accepted: return a "
                'dict, such as {"image": ..., "label": ..., "mask": ...}'
            )
        return {self.image: value[0], self.label or "label": value[1]}

    def _of_webdataset(self, value: Mapping[str, Any]) -> dict[str, Any]:
        fields = {name: item for name, item in value.items() if not _METADATA.fullmatch(name)}
        images = [name for name in fields if name in PICTURES]
        if self.image not in fields and len(images) == 1:
            fields[self.image] = fields.pop(images[0])
        if "cls" in fields and self.label is None:
            label = fields.pop("cls")
            fields["label"] = class_number(label) if isinstance(label, bytes) else label
        return {**fields, "key": value["__key__"]}

    def _label(self, value: Any) -> int:
        label = values.label_of(value, self._numbers, len(self.declared))
        if isinstance(value, str) or label < 0 or self.declared in ((), self.classes):
            return label
        if label >= len(self.declared) or not self.declared[label]:
            raise BadImage(f"its label, {label}, is none of the {len(self.classes)} classes")
        return self._numbers[self.declared[label]]


def key_of(key: Any) -> str | None:
    """Return a key as an item gives it; raise BadImage unless it could be a relative path."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise BadImage(f"its key is {values.described(key)}, and a key is text")
    if {"", ".", ".."}.intersection(key.split("/")) or "\0" in key:
        raise BadImage(f"its key, {key[:80]!r}, could not be the name of a file")
    if len(escape(key).encode()) > MAX_NAME // 2:
        raise BadImage(f"its key has {len(key)} characters, which is too long")
    return key


def members_of(fields: Mapping[str, Any], image: bytes | Image.Image) -> dict[str, bytes]:
    """Return the members of a sample; its image, label and key are not among these fields.

    A name with its kind (``json``, ``caption.txt``, ``flow.npy``, ``mask.png``) is the member's;
    bytes are stored unchanged. Other arrays become ``NAME.npy`` and other images ``NAME.png``.
    Values that JSON has (text, numbers, lists, ...) go into ``json`` under their names.
    """
    members: dict[str, bytes] = {}
    gathered: dict[str, Any] = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            raise BadImage(f"the name of a field is {values.described(name)}, and names are text")
        if name == "json" and isinstance(value, Mapping):
            _add(gathered, value)
        elif (member := _member(name, value, image)) is None:
            _add(gathered, {name: value})
        else:
            _add(members, dict([member]))
    if gathered:
        _add(members, {"json": _json(gathered)})
    return members


def _add(to: dict[str, Any], more: Mapping[str, Any]) -> None:
    if clash := sorted(to.keys() & more.keys(), key=str):
        raise BadImage(f"two of its fields would be {clash[0]!r}")
    to.update(more)


def _member(name: str, value: Any, main: bytes | Image.Image) -> tuple[str, bytes] | None:
    kind = kind_of(name)
    if name == "cls":
        raise BadImage("its field 'cls' is the class number: call it 'label'")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _named(name), bytes(value)
    if kind == "txt" and isinstance(value, str):
        return _named(name), value.encode("utf-8", "surrogatepass")
    if kind == "json" and value is not None:
        return _named(name), _json(value)
    if kind == "cls" and value is not None:
        return _named(name), b"%d" % values.label_of(value, {})
    if isinstance(value, Image.Image) or values.is_file(value):
        image = values.picture(value) if isinstance(value, Image.Image) else values.image_of(value)
        if isinstance(image, bytes):
            ext = "" if picture_format(name) else extension_of(image, name)
            return _derived(name, ext) if ext else _named(name), image
        if picture_format(name) not in (None, "png"):
            raise BadImage(
                f"its field {name!r} holds pixels: name it as a .png, which loses nothing"
            )
        return (_named(name) if kind == "png" else _derived(name, "png")), png(image)
    if hasattr(value, "__array__") and np.ndim(array := values.array_of(value)):
        if picture_format(name) == "png":
            return _named(name), png(values.picture_of(array, repr(name)))
        if kind != "npy" and array.dtype.kind in "biu" and _is_of_size(array, main):
            raise BadImage(
                f"its field {name!r} is {values.described(array)}, the image's size, and may be a "
                f'mask: as "{_derived(name, "png")}" in uint8 it is cropped and mirrored with the '
                f'image, as "{_derived(name, "npy")}" it is not'
            )
        return (_named(name) if kind == "npy" else _derived(name, "npy")), _npy(name, array)
    return None


def _is_of_size(array: NDArray[Any], image: bytes | Image.Image) -> bool:
    if array.ndim != 2:
        return False
    try:
        with opened(image) if isinstance(image, bytes) else nullcontext(image) as picture:
            return array.shape in (picture.size, picture.size[::-1])
    except PILLOW_ERRORS:
        return False  # which is told of the image


def _named(name: str) -> str:
    if not EXTENSION.fullmatch(name):
        raise BadImage(
            f"its field {name!r} would be a member of that name: use lower-case letters, digits, _ "
            "and -, and a dot before its kind, as in depth.npy"
        )
    return name


def _derived(name: str, kind: str) -> str:
    return f"{re.sub(r'[^a-z0-9_-]', '_', name.lower())}.{kind}"


def _npy(name: str, array: NDArray[Any]) -> bytes:
    if array.dtype.hasobject:
        raise BadImage(f"its field {name!r} is an array of objects: give it a dtype, or a list")
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _json(value: Any) -> bytes:
    try:
        return to_json(_plain(value, ""))
    except RecursionError as error:
        raise BadImage("its fields are nested too deeply") from error


def _plain(value: Any, name: str) -> Any:
    """Return `value` with NumPy's and torch's numbers as Python's; raise unless JSON has it."""
    if hasattr(value, "__array__") and not np.ndim(array := values.array_of(value)):
        value = array.item()
    if value is None or isinstance(value, (str, bool, int, float, datetime.date, datetime.time)):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item, f"{name}.{key}".strip(".")) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{name}[{at}]") for at, item in enumerate(value)]
    raise BadImage(
        f"{name!r} is {values.described(value)}, which JSON has not: give text, a number, a list "
        "or a dict; arrays, images and bytes as fields of their own"
    )
