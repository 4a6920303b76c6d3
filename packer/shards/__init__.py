"""From shard jobs to finished shards, in processes of this machine or on an executor.

`jobs` packs them in parallel; a `builder` encodes ahead, for them and for loops, and a
`shard_writer` writes one shard; `written` says what lies in it. The seam to other machines is
`concurrent.futures.Executor`: `futures` keeps one busy, and `executors` finds one by its address,
with one for Ray. Where a job is done cannot change a byte.
"""
