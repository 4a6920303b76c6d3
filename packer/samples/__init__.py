"""The waist: a sample is places of bytes, whatever it was read from.

`records` is what a scan yields, `table` holds it in columns, `places` reads it, with `cells`,
`hdf5` and `zip_entries`; `labels` checks classes and boxes, and writes their JSON; `outside` leaves
out objects that are none of their image.
"""
