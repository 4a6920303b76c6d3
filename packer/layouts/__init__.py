"""How sources arrange files, labels and splits.

`detect` finds the one `interpretation` of a source: it asks each recogniser of `published`. Most
layouts are images and `lists` about them; `voc`, `yolo` and `exports`, those of annotation tools,
are such. `folders` are class folders, `tars` WebDataset's, `arrays` CIFAR's and MNIST's files,
`python` datasets of Python's, and `coco` are its annotations. `foreign` names the formats that
other libraries read.
"""
