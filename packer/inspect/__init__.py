"""Commands on finished datasets: check, repair, count, measure and export them.

A module for each command: `verify`, with `shard` for one of them, `repair`, `info`, `bench`,
`index`, `export` and `extract`; `dataset` is how all of them open one. Rooms of their own are
`report`, the page, and `estimate`, what reading will take.
"""
