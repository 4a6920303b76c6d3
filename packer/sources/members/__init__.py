"""Further members for the samples of a finished dataset, which has the images.

`known` finds the dataset's samples by key or by name; `rows` and `files` read members from tables
and from files that name samples. A plan joins the two.
"""
