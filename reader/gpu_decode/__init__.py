"""Decode JPEGs on the GPU.

`parcels` runs in workers and extracts the crop's part of each JPEG, or draws the image. `images` is
the batch. `decoders` chooses the decoder among the `libraries`, and `resample` resizes all images
at once.
"""
