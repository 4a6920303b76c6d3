"""One packing run: begun, interrupted, continued, in parts, added to, committed.

`pack` runs all of it, or a part; `open_source` is the one door to a source, `write_missing` writes
the shards that are not there, and `up_to_date` says whether nothing is to be done. `run` tells one
run from another, and `log` keeps an unfinished one; each `part` holds a file, and `parts` share a
log and a scan. A `destination` is a folder, or a place in a store (`store_destination`), held there
by a `store_lock`. A `session` writes what a loop makes; a `report` says what was packed, and what
was rejected.
"""
