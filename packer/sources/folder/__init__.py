"""Folders of image files.

`folder` is the source; `layout` tells what the folders of a tree (`shape`) mean, and `masks` which
of them hold no samples. `walk` goes through folders, `files` reads samples of several files,
`sidecars` and `pairs` find the files that belong to an image.
"""
