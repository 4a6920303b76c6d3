"""Shards of a store in a folder that looks like the dataset, filled ahead of who reads it.

::

    user's process, workers                     fetching process
    client ── what is wanted, and when ──────>  process ── schedule ── reader.store ──> the network
    presence  <── one byte a sample: is it there ── mirror, quota

`client` starts the fetching process and waits for it, by `messages`. There, `process` decides what
is fetched next, `schedule` how far ahead, `ranges` in which requests and `eviction` what goes for
it. `mirror` is the folder, `recovery` what of it is sound, `quota` its space on the disk, and
`presence` the maps of what is there.
"""
