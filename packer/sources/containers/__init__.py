"""Files in which other libraries keep samples, as entries with named fields.

A format finds where the bytes lie and decompresses nothing: but for HDF5, no library of the format
is needed, and no pickle is run. `entries` is what they share, `splits` finds the splits of files.
`tfrecord`, `lmdb` (on `lmdb_pages`), `mds`, `recordio`, `ffcv` and `hdf5` are the formats.
`protobuf` has the messages of TFRecord and of Caffe's `datum`; `pickled` reads pickles of plain
values, `arrays` arrays in entries. The scanner of rows makes samples of the entries.
"""
