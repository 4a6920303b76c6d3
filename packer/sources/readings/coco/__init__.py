"""COCO's annotation files.

`source` packs them. `folders` finds the files and their images, `head` finds out what a file is
about, `index` finds the entries of an image, and `json_stream` reads files larger than memory.
"""
