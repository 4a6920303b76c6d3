"""From a plan to finished shards.

`fill` writes the shards that are missing: `jobs` packs them in parallel, in `runners` on other
machines, `shard_writer` writes one. `run` tells one run from another, `journal` keeps an unfinished
one and commits it, under a `lock`; `parts` share one, and its `kept_scan`. A `destination` is a
folder, or a place in a store: `publish` brings shards there by `uploads`, under a `claim`.
`repeats` compares keys that samples bring along, `report` says what was packed, `rejected` what
was not, `unpacked` keeps what a compressed tar holds. A `session` writes what a loop pushes, by a
`stream` of shards.
"""
