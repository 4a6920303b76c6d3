"""An image or a label as Python code has it; what cannot be stored is refused with a way to do."""

import io
import operator
import os
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFile

from packer.errors import BadImage, Unreadable, message_of
from packer.images.probe import PILLOW_ERRORS, damaged
from packer.samples.labels import MAX_CLASSES
from reader.format.pictures import PILLOW_FORMATS, no_limit_of_pillow, opened

_FORMATS = {*PILLOW_FORMATS, "MPO"}
_failed: dict[int, str] = {}  # pictures that could not be loaded: id -> reason
_PNG_MODES = {"1", "L", "LA", "P", "RGB", "RGBA", "I;16"}


def image_of(value: Any) -> bytes | Image.Image:
    """Return an image file's bytes where the value has or names them, otherwise the pixels.

    A value is a picture of Pillow's, a uint8 array (height, width) or (height, width, 1 or 3), the
    bytes of an image file, a path, or ``{"bytes": ..., "path": ...}`` as Hugging Face has it.
    """
    if isinstance(value, Image.Image):
        return unchanged_file(value) or picture(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        if not value:
            raise BadImage("its image is empty")
        return bytes(value)
    if isinstance(value, (str, os.PathLike)):
        return _file(os.fspath(value))
    if is_file(value):
        return image_of(value["bytes"] if value.get("bytes") else value.get("path"))
    if value is None:
        raise BadImage("it holds no image (None)")
    if hasattr(value, "__array__"):
        return picture_of(array_of(value))
    raise BadImage(
        f"its image is {described(value)}: give a PIL image, an array, the bytes of an image file, "
        "or its path"
    )


def label_of(value: Any, numbers: Mapping[str, int], most: int = 0) -> int:
    """Return the class number of a label; -1 without one.

    It is a name in `numbers`, or a number below `most`; 0: below their count, if there are any.
    """
    if value is None:
        return -1
    if isinstance(value, str):
        if value in numbers:
            return numbers[value]
        if not numbers:
            raise BadImage(
                f"its label is a name, {value[:80]!r}, but the classes have no names: pass "
                "classes=[...], the names in label order"
            )
        raise BadImage(f"its label, {value[:80]!r}, is none of the {len(numbers)} classes")
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)):
        raise BadImage(
            f"its label is {described(value)}, but a label is one whole number or a class "
            'name: put other values into another field, such as "json": {"target": ...}'
        )
    if not -1 <= number < (most or len(numbers) or MAX_CLASSES):
        raise BadImage(f"its label, {number}, is none of the {len(numbers) or MAX_CLASSES} classes")
    return number


def is_file(value: Any) -> bool:
    """Return whether it is an image as Hugging Face has it undecoded."""
    return isinstance(value, Mapping) and value.keys() == {"bytes", "path"}


def _file(path: str | bytes) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unreadable(f"{os.fsdecode(path)} cannot be read: {error.strerror}") from error
    if not data:
        raise BadImage(f"{os.fsdecode(path)} is empty")
    return data


def unchanged_file(image: Image.Image) -> bytes | None:
    """Return the bytes of the file that a picture was opened from, if its pixels are the same."""
    if not isinstance(image, ImageFile.ImageFile) or image.format not in _FORMATS:
        return None
    try:
        if is_loaded := not image.tile:
            with open(image.filename, "rb") as source:
                data = source.read()
        elif image.fp is None:
            return None
        else:
            at = image.fp.tell()
            image.fp.seek(0)
            data = image.fp.read()
            image.fp.seek(at)
        with opened(data) as file:
            same = (file.size, file.mode) == (image.size, image.mode) and image.tell() == 0
            if same and (is_loaded or image.mode == "P"):  # whose palette may be another one
                same = file.tobytes() == image.tobytes() and file.getpalette() == image.getpalette()
            return data if same else None
    except PILLOW_ERRORS:
        return None  # the picture says what is wrong, if anything is


def reopened(data: bytes, filename: Any, info: dict[Any, Any]) -> Image.Image:
    """Return the picture of a file's bytes, not decoded yet, as it was where it was pickled."""
    with no_limit_of_pillow:
        image = Image.open(io.BytesIO(data))
    image.filename, image.info = filename, info
    return image


def picture(image: Image.Image) -> Image.Image:
    """Return a picture, loaded, if PNG has its mode."""
    if image.mode not in _PNG_MODES:
        raise BadImage(
            f"its image is a picture of mode {image.mode}, which PNG has not: give "
            'image.convert("RGB"), or the bytes of its file'
        )
    if failed := _failed.get(id(image)):  # Pillow gives an empty picture the next time
        raise BadImage(failed)
    if getattr(image, "tile", None):
        file = getattr(image, "fp", None)
        if file is None or getattr(file, "closed", False):
            raise BadImage(
                "its picture was closed before it was read: pack it within the `with` block that "
                "opens it, or give the path of its file"
            )
    try:
        image.load()
    except PILLOW_ERRORS as error:
        reason = damaged(error)
        _failed[id(image)] = str(reason)
        weakref.finalize(image, _failed.pop, id(image), None)
        raise reason from error
    return image


def array_of(value: Any) -> NDArray[Any]:
    """Return an array or a tensor as NumPy's; raise BadImage where it cannot be had here."""
    try:
        return np.asarray(value)
    except Exception as error:  # a tensor on a GPU, or with a gradient
        raise BadImage(
            f"it holds {described(value)} that is no array ({message_of(error)})"
        ) from error


def picture_of(array: NDArray[Any], name: str = "image") -> Image.Image:
    """Return the picture of uint8 pixels; refuse any other array with what to do."""
    shape = array.shape
    is_shown = len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))
    if array.dtype == np.uint8 and is_shown and array.size:
        return Image.fromarray(array[:, :, 0] if shape[2:] == (1,) else array)
    found = f"its {name} is an array of {array.dtype} {shape}"
    wanted = "(height, width) or (height, width, 3) of uint8 is asked for"
    way = 'other arrays go into a field of their own, such as "depth.npy": array'
    if len(shape) == 1 and array.dtype == np.uint8:
        way = "for the bytes of an image file give array.tobytes()"
    elif len(shape) == 2 and name != "image":  # a mask, whose numbers stay unchanged
        way = "give array.astype(np.uint8), if its numbers are whole and from 0 to 255"
    elif len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3):
        way = "channels come last: np.moveaxis(image, 0, -1), or tensor.permute(1, 2, 0)"
        if array.dtype.kind == "f":
            way = "remove ToTensor(), so that the dataset returns PIL images"
    elif len(shape) == 3 and shape[2] == 4:
        way = (
            'for an alpha channel return Image.fromarray(image, "RGBA"), otherwise image[:, :, :3]'
        )
    elif array.dtype.kind == "f":
        way = "scale it yourself: (image * 255).astype(np.uint8), if it is from 0 to 1"
    elif array.dtype == np.uint16:
        way = 'keep the high bits by (image >> 8).astype(np.uint8), or all as "depth.npy": array'
    elif array.dtype == bool:
        way = "give image.astype(np.uint8) * 255"
    raise BadImage(f"{found}, and {wanted}: {way}")


def described(value: Any) -> str:
    """Return the kind of a value, for a sentence."""
    if hasattr(value, "__array__") and hasattr(value, "dtype"):
        return f"an array of {value.dtype} {tuple(value.shape)}"
    kind = type(value)
    plain = kind.__module__ in ("builtins", "__main__")
    name = kind.__name__ if plain else f"{kind.__module__}.{kind.__name__}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
