"""The cache of a store: a folder that looks like the dataset, filled ahead of its readers.

::

    user's process, workers                     fetching process
    client ── samples and their schedule ────>  process ── fetcher ── reader.store ──> the network
    presence  <── one byte for each sample ──────── mirror, space, quota

`client` sends `messages` to the fetching process, a `child` of the user's. There, `process` runs,
`opening` creates the folder, and `turns` hands over to the process that fetches for all readers of
the folder, by its `sockets`. In that one, the `fetcher` chooses the next samples, `schedule` how
far ahead, `ranges` the requests, `space` what stays, and `parts` fetches. `mirror` is the folder,
`files` has all shards' indexes and presence maps, `own_files` opens them, `recovery` checks them,
`quota` limits the disk space, and `presence` maps the samples.
"""
