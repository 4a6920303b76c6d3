"""Folders, tars and zips as one tree of folders and files.

`tree` is what layouts read, of a disk, and `archive` of a tar or zip, by `tar_reader`;
`compressed` tells what is compressed as a whole. `walk` goes through folders, `files` looks at one
file, `likeness` tells which are images. `shape` is where images lie, `meaning` what folders mean,
`masks` which hold masks. `sidecars` and `sample_of_files` find the files that belong to an image,
`leftovers` what nothing names.
"""
