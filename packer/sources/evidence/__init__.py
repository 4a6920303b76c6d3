"""What ignored files say about the images beside them: nothing that names them is lost in silence.

`evidence` refuses a source in which an ignored text, of those `gathered`, names its images:
`named_text` decides what such words mean, `composed` finds tables whose columns name an image
together, `rows` values in the order of images, `grouped` lists of the images of each class,
`joined_ids` ids that join image and class, `folders` tables of their folders, `classes` names of
classes beside their numbers, `lists` their templates, `readings` the options that keep all, each of
them `scanned` and `described`, and `advice` writes the commands.
"""
