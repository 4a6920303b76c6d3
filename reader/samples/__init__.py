"""One sample: from its number to the values of its fields.

`sample` reads and transforms it, `fields` defines its fields, and `members` reads its members.
`boxes`, `points` and `polygons` parse coordinates (also YOLO's lines) and transform them with the
image; `overlays` has what they share. `pixels` decodes images, or takes them from the memory of
`decoded_cache`. `raw` reads uncompressed images in bulk, and `seeding` seeds the generators of user
code.
"""
