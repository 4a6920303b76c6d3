"""Decode JPEGs on the GPU.

`parcels` runs in workers and extracts the crop's part of each JPEG. `images` is the batch, `nvjpeg`
decodes it, and `resample` resizes all its images at once.
"""
