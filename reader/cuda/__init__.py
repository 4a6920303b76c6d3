"""Onto the device: a prefetcher that copies and normalises batches while the last step computes.

`prefetcher` is what a training loop holds, `source` what it asks of a loader, `transfer` copies
and normalises one batch on a `device`, `normalisation` says how.
"""
