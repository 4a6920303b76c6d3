"""Folders of image files.

`folder` is the source; `walk` goes through folders, `files` reads samples of several files,
`sidecars` and `pairs` find the files that belong to an image.
"""
