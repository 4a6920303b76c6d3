"""A page that shows a dataset: its content, and samples that need a look.

`report` is the whole of it on one screen: `table` has the columns of all indexes, `look` numbers of
some samples' pixels, `sample` and `annotations` what one of them holds. The rules in
`findings`, `objects` and `copies` use these; `cards`, `charts` and `page` show them.
"""

SAMPLES = 20_000  # whose pixels are looked at where nobody says how many
