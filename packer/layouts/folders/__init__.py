"""Folders of images: `source` reads them, `pairs` finds the files elsewhere that belong to one."""
