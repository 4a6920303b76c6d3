"""Onto the device: a prefetcher that copies and normalises batches while the last step computes.

`prefetcher` is what a training loop holds, `transfer` copies and normalises one batch on a
`device`, `normalisation` says how.
"""
