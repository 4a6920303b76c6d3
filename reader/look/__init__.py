"""Pictures of what is read: most bugs are augmentations that nobody looked at.

`batch` finds images, labels, boxes and masks in a batch as it was delivered, `pixels` brings images
back from what they were normalised to, `sheet` draws them side by side, `page` is the small HTML of
notebooks. Pillow alone draws; torch is not imported for it.
"""
