"""Datasets that are published as arrays.

`cifar` and `idx` (MNIST) are the sources; `plain_pickle` reads pickles that run nothing, and
`matlab` the lists of older datasets.
"""
