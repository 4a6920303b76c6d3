"""The waist: a sample is places of bytes, whatever it was read from.

`records` is what a scan yields, `table` holds it in columns, `places` reads it, `cells` and
`zip_entries` where it lies in Arrow's files and in zips. `labels` checks classes and boxes, and
writes their JSON.
"""
