"""What a loader did, what holds it back, and what goes wrong with samples and workers.

`counters` adds up counts and times, `statistics` puts them into words, `bad_samples` limits what
cannot be delivered, `stalls` reports workers that do not get on.
"""
