"""The cache of a store: a folder that looks like the dataset, filled ahead of its readers.

::

    user's process, workers                     fetching process
    client ── samples and their schedule ────>  process ── fetcher ── reader.store ──> the network
    presence  <── one byte for each sample ──────── mirror, space, quota

Each reader's `client` starts a fetching process. In it, `process` runs, `opening` creates the
folder or checks it, and `turns` waits until no other process fetches into it. `client` sends
`messages` to the one that has the turn. There, the `fetcher` chooses the next samples, `schedule`
how far ahead, `ranges` the requests, `space` what stays and where, and `parts` fetches. `mirror` is
the folder, `files` has all shards' indexes and presence maps, `own_files` opens them, `quota`
limits the disk space, and `presence` maps the samples.
"""
