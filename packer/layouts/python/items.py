"""What an item of a dataset holds: which of its fields is the image, which the label."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from PIL import Image

from packer.errors import BadImage
from packer.keys import MAX_NAME, escape
from packer.layouts.python.members import members_of
from packer.layouts.python.values import described, image_of, is_file, label_of
from packer.samples.labels import class_number
from packer.tables.columns import listed, split_text
from packer.words import option
from reader.format.members import PICTURES

_METADATA = re.compile(r"__.*__")  # of webdataset's: where a sample came from


@dataclass(frozen=True)
class Item:
    """What is stored for an item."""

    image: bytes | Image.Image  # an image file's bytes, or pixels
    label: int  # class number, -1 without one
    key: str | None  # as the item gives it; None: it gives none
    split: str  # "" for none
    members: Mapping[str, bytes]  # by extension


@dataclass(frozen=True)
class Fields:
    """How an item is understood."""

    image: str = "image"  # the field that holds the image
    # the field that holds the label; None: the one of that name, if there is one
    label: str | None = None
    # the field that names the split; None: the one of that name, if there is one
    split: str | None = None
    classes: tuple[str, ...] = ()  # class names in label order; empty: labels are numbers
    # the class names that the dataset's own numbers stand for; empty: `classes`
    declared: tuple[str, ...] = ()

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.classes)}

    def item(self, value: Any) -> Item:
        """What is stored for `value`: a dict of fields, a pair (image, label), or an image."""
        fields = self._fields(value)
        for name in filter(None, (self.image, self.label, self.split)):
            if name not in fields:
                what = f" Say which one holds the image with {option('image_column')}"
                raise BadImage(
                    f"it has no field {name!r}, but {listed(list(fields))}."
                    f"{what * (name == self.image)}"
                )
        image = image_of(fields.pop(self.image))
        label = self._label(fields.pop(self.label or "label", None))
        split = split_text(fields.pop(self.split or "split", None))
        key = fields.pop("key", None)
        return Item(image, label, key_of(key), split, members_of(fields, image))

    def _fields(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Mapping) and not is_file(value):
            return self._of_webdataset(value) if "__key__" in value else dict(value)
        if not isinstance(value, tuple):
            return {self.image: value}
        if len(value) != 2:
            raise BadImage(
                f"it is a tuple of {len(value)}, and only (image, label) says by itself what is "
                'what: give a dict, such as {"image": ..., "label": ..., "mask": ...}'
            )
        return {self.image: value[0], self.label or "label": value[1]}

    def _of_webdataset(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a sample as webdataset has them, by our names."""
        fields = {name: item for name, item in value.items() if not _METADATA.fullmatch(name)}
        images = [name for name in fields if name in PICTURES]
        if self.image not in fields and len(images) == 1:
            fields[self.image] = fields.pop(images[0])
        if "cls" in fields and self.label is None:
            label = fields.pop("cls")
            fields["label"] = class_number(label) if isinstance(label, bytes) else label
        return {**fields, "key": value["__key__"]}

    def _label(self, value: Any) -> int:
        label = label_of(value, self._numbers)
        if isinstance(value, str) or label < 0 or self.declared in ((), self.classes):
            return label
        if label >= len(self.declared):
            raise BadImage(f"its label, {label}, is none of the {len(self.declared)} classes")
        return self._numbers[self.declared[label]]


def key_of(key: Any) -> str | None:
    """A key as an item gives it, if it can be one."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise BadImage(f"its key is {described(key)}, and a key is text")
    if {"", ".", ".."}.intersection(key.split("/")) or "\0" in key:
        raise BadImage(f"its key, {key[:80]!r}, could not be the name of a file")
    if len(escape(key).encode()) > MAX_NAME // 2:
        raise BadImage(f"its key has {len(key)} characters, which is too long")
    return key
