"""One sample: from its number to the values of its fields, and into its row of a batch.

`sample` reads and transforms it, `row_writer` writes it where the batch lies, `fields` decodes its
members, `boxes` parses boxes (YOLO's lines too) and carries them through the image's transforms,
`raw` gathers images that need no decoding, `drawing` draws the others, `decoded_cache` keeps what
was decoded, `seeding` seeds the generators of user code, `whole` decodes samples for a check.
"""
