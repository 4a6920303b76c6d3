"""Folders of images.

`source` reads them, `doubts` refuses folders that may be no classes, `parts` finds those that hold
parts of one sample, in `contents`. `pairs` finds the files elsewhere that belong to an image.
"""
