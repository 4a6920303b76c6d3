"""Folders of image files.

`folder` is the source; `layout` tells what the folders of a tree (`shape`) mean, `masks` and
`labels_beside` which of them hold no samples, `likeness` which files are images. `walk` goes
through folders, `files` reads samples of several files, `sidecars` and `pairs` find the files that
belong to an image.
"""
