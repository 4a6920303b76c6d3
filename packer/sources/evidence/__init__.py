"""What ignored files say about the images beside them: nothing that names them is lost in silence.

`evidence` refuses a source in which an ignored text, of those `gathered`, names its images:
`named_text` decides what such words mean, `composed` finds tables whose columns name an image
together, `rows` values in the order of images, `folders` tables of their folders, `classes` names
of classes beside their numbers, `lists` their templates, `grouped` texts that list the images of a
class, `joined_ids` ids that join an image with a word, `readings` the options that keep all, each
of them `scanned` and `described`, and `advice` writes the commands.
"""
