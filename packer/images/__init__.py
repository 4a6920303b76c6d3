"""What an image file is, and what is stored for it.

`probe` tells what it is, `jpeg` walks a JPEG's headers, `tiles` has JPEGs tiled: by `tiling`, in
this process, or by `jpegtran`, the program. `encode` decides what is stored, `members` tells
whether what belongs to an image is sound.
"""
