"""From a plan to finished shards.

`jobs` packs shards in parallel, `shard_writer` writes one, `journal` keeps an unfinished run and
commits it, `report` says what was packed.
"""
