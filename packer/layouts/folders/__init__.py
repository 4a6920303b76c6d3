"""Folders of images.

`source` reads them, `ambiguities` refuses folders that may not be classes, `parts` finds folders
that hold parts of one sample, in `contents`. `pairs` finds the files elsewhere that belong to an
image.
"""
