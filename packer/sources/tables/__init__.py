"""Tables that name images: CSV, TSV, JSONL, Parquet.

`table` is what is read, with its forms of text and their `header`; `parquet` is another form.
`columns` decides which column is what, by the usual `names`; `nested` makes rows of a row's
objects, `classes` says what its labels are, `vectors` reads those of 0 and 1, `splits` which
columns define the split, `view` what becomes of a row. `find` decides whether a table names images,
`images` where they are; `survey` gathers what all rows have together. `texts` reads any small text
as rows; `name_tokens` hashes its words, which are compared with `image_names`.
"""
