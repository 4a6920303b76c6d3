"""Shards in object stores: a folder that looks like the dataset, filled ahead of who reads it.

::

    user's process, workers                     fetching process
    client ── what is wanted, and when ──────>  fetch ── plan ── store ──> the network
    rows  <── one byte a sample: is it there ── mirror, cache

`url` says which stores there are, `client` starts the fetching process and waits for it,
`messages` is what is said to it. There, `fetch` decides what is fetched next, `plan` how far ahead,
`parts` in which requests, `store` asks for it by a network library, `body` bounds what comes,
`calls` is how its threads are awaited, `provider` what asks for credentials there, `failures` what
its errors mean, `mirror` the folder in the cache, `sound` what of it counts, `cache` its space, and
`rows` the maps of what is there. For commands `download` copies a whole dataset, `listing` is a
store that is asked what it holds, and `writable` one that `packer` writes to.
"""
