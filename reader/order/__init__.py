"""Which sample comes when: pure functions of (seed, epoch, position).

`shuffle` permutes, `blocks` a few shards at a time, `streams` for each rank its own; `samplers`
choose and weigh, `mixed` deals out several orders in proportion, `sampled` asks a sampler of the
user's, `buckets` sort by aspect ratio, `steps` cut an order into batches over ranks, `resume` says
where a run is, `access` what is read next and when again.
"""
