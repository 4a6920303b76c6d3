"""What is to be done, with nothing written yet.

`options` is what a person may choose, `scan` lists a source into a `listing`, `plan` divides it
into shards, `prepare` puts these together as `work`, which gives a `shard_job` for each.
"""
