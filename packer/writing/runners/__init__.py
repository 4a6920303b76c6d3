"""Where shard jobs are done, if not in processes of this machine: on the engine that is there.

The seam is `concurrent.futures.Executor`: `futures` keeps one busy and hears from it, `ray` is one
for Ray, `connect` finds one by its address. A shard job is the same wherever it is done, so nothing
here can change a byte.
"""
