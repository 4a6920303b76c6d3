"""What is to be done, with nothing written yet.

`prepare` scans a source and plans its shards (`plan`) as `work`, which gives a job for each shard;
`source_summary` says in a sentence what the source was read as. A `guard` is what a job makes sure
of before it writes.
"""
