"""Tables that name images: CSV, TSV, JSONL, Parquet.

`source` packs the files that tables name, `parquet_images` the images within one. `table` is what
both read, `lines` and `parquet` its forms; `arrow` opens the latter's files. `columns` says which
column is what, `boxes`, `classes` and `several` what its values are, `part` what a row becomes,
`as_json` how it is written. `find` tells whether a table names images, `places` where they lie,
`survey` what all rows say together, `unlisted` what no table names; `names` checks paths.
`unlabelled` says what could have been a label.
"""
