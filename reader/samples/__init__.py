"""One sample: from its number to the values of its fields.

`sample` reads and transforms it, `fields` defines its fields, and `members` reads its members.
`boxes` parses boxes (also YOLO's lines) and transforms them with the image. `pixels` decodes
images, or takes them from the memory of `decoded_cache`. `raw` reads uncompressed images in bulk,
and `seeding` seeds the generators of user code.
"""
