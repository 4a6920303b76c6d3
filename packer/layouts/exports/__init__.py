"""What annotation tools and services export: one file or many that describe images.

`forms` has each `form` as data; `records` finds the entries of images in a file, of which only the
places are kept; `source` looks up the images and makes lists of them.
"""
