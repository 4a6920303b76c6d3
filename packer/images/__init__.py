"""What an image file is, and what is stored for it.

`probe` tells what it is, `jpeg` walks a JPEG's headers, `jpegtran` tiles, `encode` decides what is
stored.
"""
