"""What is to be done, with nothing written yet.

`scan` lists a source into a `listing` and compares it with what is `there` already (`understood`
says in a sentence what it was read as), `plan` divides it into shards of a `shard_size`, `prepare`
puts these together as `work`, which gives a `shard_job` for each, and it a `mandate`. A `part` is
some of the shards.
"""
