"""Samples that Python code has: a dataset's items, or what a loop pushes.

`values` takes images and labels, `members` whatever belongs to them, `items` tells which field of
an item is which. `dataset` is the source over anything with a length and items, which `carried`
brings to the packing processes; `known` knows what libraries' datasets tell of themselves, `probes`
reads a few items beforehand, `draws` makes random transforms repeatable.
"""
