"""Shards in object stores: a folder that looks like the dataset, filled ahead of who reads it.

::

    user's process, workers                     fetching process
    client ── what is wanted, and when ──────>  fetch ── plan ── store ──> the network
    rows  <── one byte a sample: is it there ── mirror, cache

`url` says which stores there are, `client` starts the fetching process and waits for it,
`messages` is what is said to it. There, `fetch` decides what is fetched next, `plan` how far ahead,
`parts` in which requests, `store` is the only module that knows a network library, `calls` how its
threads are awaited, `failures` what its errors mean, `mirror` the folder in the cache, `sound` what
of it counts, `cache` its space, and `rows` the maps of what is there. `download` copies a whole
dataset, for commands.
"""
