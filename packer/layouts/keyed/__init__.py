"""Further members for the samples of a finished dataset, which has the images.

`samples` finds the dataset's samples by key or by name; `table` and `files` read the members from
rows and from files that name them; `source` joins the two.
"""
