"""From a plan to finished shards.

`fill` writes the shards that are missing: `jobs` packs them in parallel, in `runners` on other
machines, `shard_writer` writes one. `journal` keeps an unfinished run and commits it, `repeats`
compares keys that samples bring along, `report` says what was packed.
"""
