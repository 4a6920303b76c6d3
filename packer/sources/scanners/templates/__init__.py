"""A custom layout: templates that define which files are images, and what their paths mean.

`template` parses and matches one, `lines` reads files by the same fields, `lists` keeps them,
`joined` finds those of an image, `loosely` by a part of its name or by order, `chosen` has all of
them, `survey` finds folders, classes and members, and `source` gives the samples. `proposed` finds
the fields of a list for the command that a refusal proposes, by names or by `places`, from its
`records`.
"""
