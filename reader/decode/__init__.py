"""From bytes to pixels.

`plan` says which part of which scale is needed, `splice` cuts it out of a tiled JPEG, `bands`
decodes it of a banded PNG, `decoder` decodes and resizes into the caller's memory, `formats` does
so for everything that is not JPEG; `resize` is the way to resize that looks like Pillow's.
"""
