"""From shard jobs to finished shards, in processes of this machine or on an executor.

`jobs` packs them in parallel; a `builder` encodes ahead, for them and for loops, and a
`shard_writer` writes one shard. The seam to other machines is `concurrent.futures.Executor`:
`executors` finds one by its address, with one for Ray, and keeps it busy. Where a job is done
cannot change a byte.
"""
