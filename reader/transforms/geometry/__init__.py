"""Transforms of geometry: none of them touches a pixel.

`crops`, `resizes` and `flips` change a `reader.geometry.Geometry`, from which the decoder gets its
crop plan; `sizes` has the rules of their arguments.
"""
