"""What is to be done, with nothing written yet.

`prepare` scans a source (`scan`), compares it with what is there (`existing`), describes it in a
sentence and plans its shards (`plan`) as `work`, which gives a job for each shard. Before it
writes, a job makes sure that its run and its source are there.
"""
