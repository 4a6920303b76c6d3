"""From shard jobs to finished shards, in processes of this machine or on an executor.

`jobs` packs them in parallel, and a `stream` writes what a loop makes: both by a `builder`, which
encodes ahead, and a `shard_writer`, which writes one shard; `written` says what lies in it. The
seam to other machines is `concurrent.futures.Executor`: `futures` keeps one busy, and
`executors` finds one by its address, with one for Ray. Where a job is done cannot change a byte.
"""
