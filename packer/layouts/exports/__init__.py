"""What annotation tools, services and benchmarks write about images, in one file or in many.

`form` says what a form of annotations is; those of ``forms.yaml`` are `known`. `records` finds the
entries in a file, `readers` changes those that need it, those of Open Images by `open_images`, and
`source` looks the images up.
"""
