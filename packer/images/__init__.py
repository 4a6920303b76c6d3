"""What an image file is, and what is stored for it.

`probe` tells what it is, `jpeg` walks a JPEG's headers, `tiles` has JPEGs tiled: by `tiling`, in
this process, or by `jpegtran`, the program; `banding` puts PNGs into bands. `encode` decides what
is stored, `members` does so for what belongs to an image, and tells whether it is sound.
"""
