"""What belongs to an image, as Python code has it: texts, arrays, masks, whatever JSON holds."""

import datetime
import io
import re
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from packer.errors import BadImage
from packer.images.encode import png
from packer.images.probe import PILLOW_ERRORS, extension_of
from packer.layouts.python.values import (
    array_of,
    described,
    image_of,
    is_file,
    label_of,
    picture,
    picture_of,
)
from packer.samples.labels import to_json
from packer.trees.sidecars import EXTENSION
from reader.format.members import kind_of, picture_format
from reader.format.pictures import opened


def members_of(fields: Mapping[str, Any], image: bytes | Image.Image) -> dict[str, bytes]:
    """The members of a sample: its `image`, label and key are not among these fields.

    A name that says its kind (``json``, ``caption.txt``, ``flow.npy``, ``mask.png``) is the
    member's; bytes are stored as they are. Other arrays become ``NAME.npy`` and other images
    ``NAME.png``. What JSON has (text, numbers, lists, ...) is gathered in ``json`` under its name.
    """
    members: dict[str, bytes] = {}
    gathered: dict[str, Any] = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            raise BadImage(f"the name of a field is {described(name)}, and names are text")
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


def _member(name: str, value: Any, beside: bytes | Image.Image) -> tuple[str, bytes] | None:
    """The member that a field becomes; None for what goes into the sample's JSON."""
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
        return _named(name), b"%d" % label_of(value, {})
    if isinstance(value, Image.Image) or is_file(value):
        image = picture(value) if isinstance(value, Image.Image) else image_of(value)
        if isinstance(image, bytes):
            return (
                _named(name) if picture_format(name) else _derived(name, extension_of(image, name))
            ), image
        if picture_format(name) not in (None, "png"):
            raise BadImage(
                f"its field {name!r} holds pixels: name it as a .png, which loses nothing"
            )
        return (_named(name) if kind == "png" else _derived(name, "png")), png(image)
    if hasattr(value, "__array__") and np.ndim(array := array_of(value)):
        if picture_format(name) == "png":
            return _named(name), png(picture_of(array, repr(name)))
        if kind != "npy" and array.dtype.kind in "biu" and _is_of_size(array, beside):
            raise BadImage(
                f"its field {name!r} is {described(array)}, the image's size, and may be a mask: "
                f'as "{_derived(name, "png")}" in uint8 it is cropped and mirrored with the image, '
                f'as "{_derived(name, "npy")}" it is not'
            )
        return (_named(name) if kind == "npy" else _derived(name, "npy")), _npy(name, array)
    return None


def _is_of_size(array: NDArray[Any], image: bytes | Image.Image) -> bool:
    """Whether it has one number for each pixel, as stored or upright."""
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
    """`value` with numbers of NumPy's and torch's as Python's, if JSON has all of it."""
    if hasattr(value, "__array__") and not np.ndim(array := array_of(value)):
        value = array.item()
    if value is None or isinstance(value, (str, bool, int, float, datetime.date, datetime.time)):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item, f"{name}.{key}".strip(".")) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{name}[{at}]") for at, item in enumerate(value)]
    raise BadImage(
        f"{name!r} is {described(value)}, which JSON has not: give text, a number, a list or a "
        "dict; arrays, images and bytes as fields of their own"
    )
