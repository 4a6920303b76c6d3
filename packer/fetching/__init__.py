"""Sources in stores: brought into a folder here, and packed from there as any path is.

`place` tells a URL from a path, `listing` asks the store what there is, `objects` says which of it
a folder can have and as what (pure), `copy` is that folder, `transfer` fills it, and `source` is
all of it for `packing`.
"""
