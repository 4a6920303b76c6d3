"""Files in which other libraries keep samples, as entries with named fields.

A format has a module, which finds where the bytes lie and decompresses nothing: no library of the
format is needed, and no pickle is run. `entries` is what they share, and `protobuf` reads a
message's fields. The others are `arrays`, `datum`, `ffcv`, `lmdb`, `lmdb_pages`, `mds`, `pickled`,
`recordio`, `splits` and `tfrecord`. The scanner of rows makes samples of the entries.
"""
