"""Whether a dataset is what was written.

`verify` proves it or names what is damaged, `shard` checks one shard, `image` one image, `repair`
makes damaged shards again.
"""
