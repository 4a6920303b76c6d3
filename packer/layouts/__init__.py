"""How sources arrange files, labels and splits.

`detect` finds the one `interpretation` of a source: it asks each module of `published`. Most
layouts are images and `lists` about them, which `listed` reads; `voc` is one. `folders` are class
folders, `tars` WebDataset's, `arrays` CIFAR's and MNIST's files, `python` datasets of Python's;
`coco` and `yolo` are annotations. `foreign` names the formats that other libraries read.
"""
