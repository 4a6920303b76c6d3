"""Hue, turned in the 8-bit HSV of OpenCV, as Pillow does it in its own."""

from dataclasses import dataclass

import cv2
import numpy as np

from reader.transforms.operations.operation import Operation, Pixels


@dataclass(frozen=True)
class Hue(Operation):
    """The colours turned by `factor` of the circle."""

    factor: float

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        if pixels.ndim == 2:
            return  # grey has no hue
        hsv = cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV_FULL)
        turn = np.zeros(pixels.shape[1:], np.uint8)
        turn[:, 0] = int(self.factor * 255) % 256  # as torchvision has it for Pillow
        hsv += turn  # wraps as hues do
        cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL, dst=pixels)
