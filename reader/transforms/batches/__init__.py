"""Steps on whole batches, as torch tensors on any device; workers do not import this.

`mixing` draws how images and labels are mixed, and `mixtures` mixes them.
"""
