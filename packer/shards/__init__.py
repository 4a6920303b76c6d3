"""From shard jobs to finished shards: `jobs` in processes here, or `executors` elsewhere.

A `builder` encodes ahead for a `shard_writer`; where there are many shards, `joined` has all
indexes in one file, too. `frames` names annotations of doubtful pictures. Where a
job is done cannot change a byte.
"""
