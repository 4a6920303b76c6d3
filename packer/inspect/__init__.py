"""What reads finished datasets: checks, repairs, counts, measures and exports them.

`verify` proves that a dataset is what was written, or names what is damaged: `shard` checks the
bytes of one shard, `image` one image without decoding it, `pixels` decodes the samples in
processes that may die (``verify --decode``). `repair` makes damaged shards again, `info` counts
what is there, `store` has a dataset in a store at hand meanwhile, `bench` measures how fast one is
read. `index` makes a dataset of tars from elsewhere (`rows` reads them), `export` writes the
indexes that `dali`, `wids` and `energon` want (by `tool_files`), `extract` gives the files back.
Rooms of their own are `report`, the page, and `plan`, what reading will take.
"""
