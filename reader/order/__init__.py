"""The order of samples: pure functions of (seed, epoch, position).

`shuffle` permutes all samples, `blocks` those of a few shards at a time, `streams` separately for
each rank. `samplers` has weighted orders, `sampled` reads a user's sampler, and `buckets` groups by
aspect ratio. `steps` divides an order into batches over ranks, `resume` saves and restores a
position, and `access` computes the next reads for prefetching.
"""
