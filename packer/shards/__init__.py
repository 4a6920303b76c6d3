"""From shard jobs to finished shards: `jobs` in processes here, or `executors` elsewhere.

A `builder` encodes ahead for a `shard_writer`. Where a job is done cannot change a byte.
"""
