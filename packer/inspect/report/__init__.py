"""A page that shows a dataset: what it consists of, and what deserves a look.

`report` is the whole of it on one screen. `table` gathers the columns of all indexes, `look` reads
some samples in parallel and keeps numbers of their pixels, `likeness` finds those that are alike,
`agreement` whether their boxes are too. Of these the rules make findings (`finding`): `of_images`,
`of_pairs`, `of_annotations`, `of_classes`. `choice` says which samples are shown, `cards` draws
them small; `sample` is one that both read, `annotations` what a member tells of it, `masks` what
its masks hold, `batches` has any of it done in processes. `charts` draws distributions, `facts`
tells how it was packed, `costs` what reading it takes, and `page` fills the template.
"""

SAMPLES = 20_000  # whose pixels are looked at where nobody says how many
