"""Run operations on an image in place; what is linear and follows each other in one pass."""

from collections.abc import Iterable
from itertools import groupby

from reader.transforms.operations.linear import Linear, change_linearly
from reader.transforms.operations.operation import Operation, Pixels


def change(operations: Iterable[Operation], pixels: Pixels) -> None:
    """Change an image, uint8 (height, width, channels), in its own memory."""
    if pixels.shape[2:] == (1,):
        pixels = pixels[..., 0]
    for is_linear, group in groupby(operations, lambda operation: isinstance(operation, Linear)):
        if is_linear:
            change_linearly([one for one in group if isinstance(one, Linear)], pixels)
        else:
            for operation in group:
                operation.change(pixels)
