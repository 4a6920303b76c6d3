"""Folders of images.

`reading` gives their templates, and `labels` refuses the labels of images in another folder.
"""
