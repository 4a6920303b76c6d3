"""How sources arrange files, labels and splits.

`detect` finds the one `interpretation` of a source by each recogniser of `published`, unless
`templates` define it. Most layouts are images and `lists` about them, some of which `text_lists`
reads; `voc`, `yolo` and `exports`, of annotation tools, are such. `folders` are class folders,
`tars` WebDataset's, `arrays` CIFAR's and MNIST's files, `python` datasets of Python's, and `coco`
are its annotations. `evidence` refuses a source in which an ignored file names its images:
`texts` reads it, `name_tokens` compares words with names, `named_text` decides what they mean,
`text_rows` finds values in the order of images, `text_folders` tables of their folders,
`text_classes` names of classes beside their numbers, `evidence_lists` their templates,
`evidence_readings` the options that keep all, and `evidence_advice` writes the commands.
`proposals` finds the commands that keep all of a source that is refused.
`audit` asks what a scan may have lost. `mask_colors` finds the list of the colours of masks.
`foreign` names the formats that other libraries read.
"""
