"""Caffe's `Datum`: a message with an image, encoded or as pixels by channels, and its label.

See https://github.com/BVLC/caffe/blob/master/src/caffe/proto/caffe.proto.
"""

from typing import Any

from packer.errors import BadImage
from packer.sources.containers.entries import Blob, Window
from packer.sources.containers.protobuf import BYTES, VARINT, message

_NUMBERS = {1: "channels", 2: "height", 3: "width", 5: "label", 7: "encoded"}
_DATA = 4


def datum(window: Window, at: int, size: int) -> dict[str, Any] | None:
    """Return the fields of a `Datum`; None for other bytes."""
    numbers: dict[str, int] = {}
    data: Blob | None = None
    try:
        for field in message(window, at, at + size):
            if field.number == _DATA and field.kind == BYTES:
                data = window.blob(field.begin, field.end - field.begin)
            elif field.number in _NUMBERS and field.kind == VARINT:
                numbers[_NUMBERS[field.number]] = field.value
            else:
                return None
    except BadImage:
        return None
    if data is None:
        return None
    label = {"label": numbers["label"]} if "label" in numbers else {}
    if numbers.get("encoded"):
        return {"data": data, **label}
    channels, height, width = (numbers.get(name, 0) for name in ("channels", "height", "width"))
    if channels * height * width != data.size:
        return None
    if channels != 1:
        raise BadImage(
            "its pixels are by channels, and no Datum records whether red or blue is first: decode "
            "them in Python, see docs/packing/python.md"
        )
    return {"data": Blob([*data.place, [height, width, 1]], data.size), **label}
