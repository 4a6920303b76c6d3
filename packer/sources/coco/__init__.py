"""COCO's annotation files.

`coco` is the source, `index` finds the entries of an image, `json_stream` reads files larger than
memory.
"""
