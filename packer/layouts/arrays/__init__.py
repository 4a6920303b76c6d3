"""Datasets that are published as arrays.

`cifar`, `idx` (MNIST) and `named` (MedMNIST, SVHN, STL-10) are the sources; `plain_pickle` reads
pickles that run nothing, and `matlab` the lists of older datasets. `one_each` finds the template of
folders that have an array for each image.
"""
