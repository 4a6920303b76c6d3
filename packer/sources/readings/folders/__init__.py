"""Folders of images.

`reading` gives their templates, `ambiguities` refuses folders that may not be classes, `parts`
finds folders that hold parts of one sample, in `contents`. `labels` refuses those of images in
another folder.
"""
