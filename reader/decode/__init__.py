"""From bytes to pixels.

`stored` is an image in a shard, and `plan` makes the crop plan: the part and scale to decode.
`splice` extracts that part from a tiled JPEG, and `bands` decodes it from a banded PNG. `decoder`
decodes and resizes into the caller's memory, `formats` decodes everything but JPEG, `resize`
resizes as Pillow does, and `colours` makes classes of the colours of masks.
"""
