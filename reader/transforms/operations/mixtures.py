"""Weighted sums of an image and of others that operations make of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reader.transforms.operations.operation import Operation, Pixels
from reader.transforms.operations.run import change


@dataclass(frozen=True)
class Mixture(Operation):
    """The image times `own`, and what each chain of operations makes of it times its weight."""

    own: float
    chains: Sequence[tuple[float, Sequence[Operation]]]

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        total = np.multiply(pixels, self.own, dtype=np.float32)
        for weight, operations in self.chains:
            changed = pixels.copy()
            change(operations, changed)
            total += np.multiply(changed, weight, dtype=np.float32)
        pixels[...] = total.clip(0, 255)  # truncated
