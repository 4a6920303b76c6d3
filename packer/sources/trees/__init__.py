"""Folders, tars and zips as one tree of folders and files.

`tree` is what layouts read, with the leftovers in it: `folder` of a disk, `archive` of each
`archive_file`, a tar (by `tar_reader`) or zip; `find` chooses between them. `compressed` detects
files that are compressed as a whole. `walk` goes through folders and detects which files are
images. `shape` is where images and masks are, `meaning` what folders mean, `names` what the names
of folders and files mean, `tokens` their words and numbers; `outright` writes it as templates.
`globs` hide files. `sidecars` finds the files that belong to an image, `sample` makes samples of
them.
"""
