"""One sample: from its number to the values of its fields.

`sample` reads and transforms it, `fields` says what it consists of, `members` reads its members,
`boxes`, `points` and `polygons` parse coordinates (YOLO's lines too) and carry them through the
image's transforms; `overlays` is what they have in common. `pixels` is where images come from:
decoded, or from the memory of `decoded_cache`. `raw` gathers images that need no decoding,
`seeding` seeds the generators of user code.
"""
