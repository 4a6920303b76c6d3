"""What annotation tools, services and benchmarks write about images, in one file or in many.

`form` says what a form of annotations is; `tools`, `services` and `benchmarks` are the ones that
are `known`. `records` finds the entries in a file, and `source` looks the images up.
"""
