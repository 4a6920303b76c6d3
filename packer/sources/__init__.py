"""What can be packed.

`detect` tells what a path holds, `records` is what every source yields, `labels` and `parts` serve
several of them; each kind of source has a room of its own.
"""
