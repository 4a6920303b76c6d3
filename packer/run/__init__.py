"""One packing run: begun, interrupted, continued, in parts, added to, committed.

`pack` runs all of it, or a part, and `write_missing` writes the shards that are missing, if any
are. `run` distinguishes runs and their parts, `log` keeps an unfinished one, and `parts` share a
log and a scan; `json_columns` refuses fields that no sample has. A `destination` is a folder;
`uploads` go from one to a place in a store. A `session` writes what a loop makes; a `report` names
what was packed and rejected.
"""
