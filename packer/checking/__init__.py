"""Whether a dataset is what was written.

`verify` proves it or names what is damaged: `shard` checks the bytes of one shard, `image` one
image without decoding it, `pixels` decodes the samples in processes that may die (``verify
--decode``). `repair` makes damaged shards again, `info` counts what is there, `store` has a
dataset in a store at hand meanwhile.
"""
