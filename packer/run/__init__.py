"""One packing run: begun, interrupted, continued, in parts, added to, committed.

`pack` runs all of it and `pack_part` some shards; `open_source` reads what a person names, and
`write_missing` writes the shards that are not there. `run` tells one run from another, `log` keeps
an unfinished one; each `part` holds a file, `parts` share a log and a `kept_scan`. A `destination`
is a folder, or a place in a store (`store_destination`), held there by a `store_lock`; `locations`
finds it by its path or URL, and `up_to_date` says whether nothing is to be done. A `session` writes
what a loop makes. `repeated_keys` compares keys that samples bring along,
`report` says what was packed, `rejected` what was not.
"""
