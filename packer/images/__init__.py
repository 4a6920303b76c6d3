"""Images: recognised by `probe` and `jpeg`, and stored by `encode`, with their `members`.

`annotated` finds the size that a JSON gives of its image. `tiles` has JPEGs tiled, by
`tiling`, in this process, or by `jpegtran`, the program; `banding` puts PNGs into bands, and
`arrays` makes pictures of arrays.
"""
