"""JPEGs that are decoded on the GPU.

`parcels` is the worker's half, which cuts out what a crop needs; `images` the batch that arrives,
`nvjpeg` its decoder and `resample` the resizing of all its images at once.
"""
