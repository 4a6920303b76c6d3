"""Draw delivered batches, to check augmentations by eye.

`batch` finds images, labels, boxes and masks in a delivered batch, `pixels` undoes normalisation,
`sheet` draws the images side by side, and `page` is the HTML of notebooks. It uses Pillow and does
not import torch.
"""
