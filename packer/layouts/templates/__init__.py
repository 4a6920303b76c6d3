"""A person's own layout: templates that say which files are images, and what their paths mean.

`template` parses and matches one, `lists` reads files by the same fields, `joined` finds the lines
for an image, `source` gives the samples, and `outright` says a layout of folders in templates.
"""
