"""The options of packing, each declared once.

`kinds` are the values that an option takes, a `part` among them; `declared` lists all options and
holds their values; `chosen` makes options that go together from what a person gave. The command
line, the sections of ``--help``, the checks of the arguments of `packer.pack` and `packer.Writer`
and the values in dataset.json derive from `declared`.
"""
