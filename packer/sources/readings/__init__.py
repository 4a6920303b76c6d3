"""Recognisers of what a source is.

`detect` finds the one interpretation of a source by each recogniser of `published`, unless
templates define it. `folders` are class folders, `voc`, `yolo`, `coco` and `exports` the forms of
annotation tools. `text_lists` reads lists about images, `mask_colors` finds the list of the colours
of masks, `class_names` the file that names the numbers of classes, and `foreign` names the formats
that other libraries read.
"""
