"""The cache of a store: a folder that looks like the dataset, filled ahead of its readers.

::

    user's process, workers                     fetching process
    client ── samples and their schedule ────>  process ── fetcher ── reader.store ──> the network
    presence  <── one byte for each sample ──────── mirror, quota

`client` sends `messages` to the fetching process, a `child` of the user's. There, in `process`, the
`fetcher` chooses the next samples, `schedule` how far ahead, `ranges` the requests, `eviction` what
to remove, and `parts` fetches. `mirror` is the folder, `files` has all shards' indexes and presence
maps, `recovery` checks it, `quota` limits its disk space, and `presence` maps its samples.
"""
