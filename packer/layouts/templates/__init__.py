"""A person's own layout: templates that say which files are images, and what their paths mean.

`template` parses and matches one, `lines` reads files by the same fields, `lists` keeps them,
`joined` finds those of an image, `chosen` is all that is said, and `source` gives the samples.
"""
