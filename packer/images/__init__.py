"""What an image file is (`probe`, `jpeg`), and what is stored for it and its members (`encode`).

`tiles` has JPEGs tiled, by `tiling`, in this process, or by `jpegtran`, the program; `banding` puts
PNGs into bands.
"""
