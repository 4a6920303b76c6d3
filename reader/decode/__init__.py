"""From bytes to pixels.

`stored` is an image as it lies in a shard, `plan` says which part of it is needed at which scale,
`splice` cuts that out of a tiled JPEG, `bands` decodes it of a banded PNG, `decoder` decodes and
resizes into the caller's memory, `formats` does so for everything that is not JPEG; `resize` is the
way to resize that looks like Pillow's.
"""
