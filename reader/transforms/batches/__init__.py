"""Steps on whole batches, as torch tensors on any device; workers do not import this.

`output` describes what images become, with numbers of `channels`; `normalisation` makes floats of
them, and `erasing` erases boxes. `mixing` draws how images and labels are mixed, and `mixtures`
mixes them.
"""
