"""Images: recognised by `probe` and `jpeg`, and stored with their members by `encode`.

`tiles` has JPEGs tiled, by `tiling`, in this process, or by `jpegtran`, the program; `banding` puts
PNGs into bands, and `arrays` makes pictures of arrays.
"""
