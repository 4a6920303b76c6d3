"""Datasets that are published as arrays.

`source` is their scanner. `cifar`, `idx` (MNIST) and `named` (MedMNIST, SVHN, STL-10) find the
arrays of a form; `plain_pickle` reads pickles that run nothing, and `matlab` the lists of older
datasets. `one_each` finds the template of folders that have an array for each image, and `pixels`
tables that have the values of pixels.
"""
