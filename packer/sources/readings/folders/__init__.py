"""Folders of images: `reading` gives their templates."""
