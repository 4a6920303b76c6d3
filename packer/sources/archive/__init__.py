"""Tars and zips, read in place.

`tree` is what an archive holds, as folders: each layout is read from it as from a disk.
`webdataset` is the source of samples in tars, `shard_lists` tells which tars are a split;
`tar_reader` reads tars of any writer, `zip_entries` reads zips, `compressed` tells what is
compressed as a whole.
"""
