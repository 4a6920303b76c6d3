"""Annotations of tools, services and benchmarks, in one file or in many.

`form` declares a form of annotations; those of ``forms.yaml`` are `known`. `records` finds the
entries in a file, `readers` changes those that need it, those of Open Images by `open_images`, and
`source` looks the images up.
"""
