"""Samples that Python code has: a dataset's items, or what a loop pushes.

`values` takes images and labels, `items` the fields of an item and the members that they become.
`dataset` is the source over anything with a length and items, whose random transforms it makes
repeatable; `carried` brings it to the packing processes. `known` has what libraries' datasets
declare, `probes` reads a few items beforehand.
"""
