"""Shards of a store in a folder that looks like the dataset, filled ahead of who reads it.

::

    user's process, workers                     fetching process
    client ── what is wanted, and when ──────>  process ── fetcher ── reader.store ──> the network
    presence  <── one byte a sample: is it there ── mirror, quota

`client` waits for the fetching process, a `child` of the user's, by `messages`. There, in
`process`, the `fetcher` decides what is fetched next, `schedule` how far ahead, `ranges` in which
requests, `eviction` what goes for it, and `parts` brings it. `mirror` is the folder, `recovery`
what of it is sound, `quota` its space on the disk, and `presence` the maps of what is there.
"""
