"""Transforms of other libraries that torchvision has not, by the rules of these libraries.

`timm` has those of timm; `pillow` does what OpenCV does otherwise than Pillow.
"""
