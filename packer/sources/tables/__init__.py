"""Tables that name images: CSV, TSV, JSONL, Parquet.

`source` packs the files that tables name, `parquet_images` the images within one. `table` is what
both read, and its forms of text, with `header`; `parquet` is the other. `columns` decides which
column is what, by the usual `names`; `nested` makes rows of a row's objects, `classes` says what
its labels are, `splits` which columns define the split, `view` what becomes of a row. `find`
decides whether a table names images, `images` where they are; `survey` gathers what all rows have
together. `texts` reads any small text as rows, and `name_tokens` compares words with names.
"""
