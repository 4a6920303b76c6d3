"""What reads finished datasets: checks, repairs, counts, measures and exports them.

`verify` proves that a dataset is what was written, or names what is damaged: `shard` checks the
bytes of one shard. `repair` makes damaged shards again, `info` counts what is there, `bench`
measures how fast it is read. `index` makes a dataset of tars from elsewhere, `export` writes the
indexes that other tools want, `extract` gives the files back. `dataset` is how all of them open
one. Rooms of their own are `report`, the page, and `estimate`, what reading will take.
"""
