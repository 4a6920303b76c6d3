"""One packing run: begun, interrupted, continued, in parts, added to, committed.

`pack` has the five steps of a run on one screen. Each mode is one object: `scopes` are the whole, a
part, an addition; a `destination` is a folder, `uploads` go from one to a place in a store.
`write_missing` writes the shards that are missing, `refusals` say why none may be, `committed` is
what is there already and what is committed now. `run` is the identity of a run, `log` keeps an
unfinished one, `parts` share a log and a scan. A `session` writes what a loop makes; a `report`
names what was packed and rejected.
"""
