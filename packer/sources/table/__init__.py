"""Tables that name images: CSV, TSV, JSONL, Parquet.

`source` packs the files that a table names, `parquet_images` the images within one; `table` is
what both read, `lines` and `parquet` its forms, `columns` says which column is what, `names`
checks paths.
"""
