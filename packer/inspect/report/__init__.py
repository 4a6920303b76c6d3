"""A page that shows a dataset: what it consists of, and what deserves a look.

`report` is the whole of it on one screen. `table` gathers the columns of all indexes, `look` reads
some samples in parallel and keeps numbers of their pixels. Of these the rules make `findings`:
about images and classes, about `objects`, about `copies`, whose boxes should agree.
`cards` draws samples small; `sample` is one that both
read, in processes that may die, `annotations` what a member holds of it. `charts` draws
distributions, and `page` fills the template.
"""

SAMPLES = 20_000  # whose pixels are looked at where nobody says how many
