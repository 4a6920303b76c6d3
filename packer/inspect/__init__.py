"""Commands on finished datasets: check, repair, count, measure and export them.

A module for each command: `verify`, with `shard` for one of them, `repair`, `info`, `bench`,
`index`, with `tar_index` for one tar, `export` and `extract`. All but verify and repair, which read
damaged ones, read a `Finished`; `dataset` is what they ask of an index. Rooms of their own are
`report`, the page, and `estimate`, what reading will take.
"""
