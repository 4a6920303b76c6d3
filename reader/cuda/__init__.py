"""Onto the device: a prefetcher that copies and normalises batches while the last step computes.

`prefetcher` is what a training loop holds, `transfer` the way of one batch, `nested` the forms
that batches may have.
"""
