"""A packed dataset: sample numbers to shards and rows.

`dataset` is the class that people use, `arguments` what may be given to it, `places` says which
samples a subset or a sampler means, where they lie and what they are called; `numbered` finds
and reads them, of several datasets as well with `mix`. `open_shards` keeps the shards of a thread
open, `shard` is one with its index, whose `tar_bytes` are a file's or in memory, or come from a
store as `cached_bytes`; `shared_memory` holds shards once for all processes.
`as_torch` is what torch sees of a dataset, `as_webdataset` gives the samples to webdataset's
pipelines, `page` is what a notebook shows.
"""
