"""Folders of images: `source` reads them, `pairs` and `labels_beside` find what belongs to one."""
