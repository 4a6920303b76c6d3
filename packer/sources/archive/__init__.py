"""Tars and zips, read in place.

`archive` is the source of class folders, `webdataset` that of samples; `entries` lists the files
in an archive, `class_folders` says what its folders mean, `shard_lists` which tars are a split,
`tar_reader` reads tars of any writer, `zip_entries` reads zips; `lists` refuses labels in files of
their own, `compressed` tells what is compressed as a whole.
"""
