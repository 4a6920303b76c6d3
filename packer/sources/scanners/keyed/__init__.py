"""Further members for the samples of a finished dataset, which has the images.

`samples` finds the dataset's samples by key or by name; `table`, with the `arrays` of Parquet, and
`files` read members from rows and from files that name samples; `source` joins the two.
"""
