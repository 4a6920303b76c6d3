"""What goes through a source and gives its samples, or names what is no sample with the reason.

`templates` scan folders, `rows` images that something lists, `tars` WebDataset's, `arrays`
CIFAR's and MNIST's files, and `python` datasets of Python's.
"""
