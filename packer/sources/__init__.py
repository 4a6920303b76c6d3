"""What can be packed.

`detect` tells what a path holds, as a `reading`: it lists the `tree` once and asks each module of
`layouts`. `given` is that path and its name, `options` what a person may say of it. Every source
yields `records`. A new layout is a module in `layouts`: most are images and `lists` about them,
which `listed` reads, while `unnamed` accounts for all other files; `voc` is one, and the other
kinds of source have a room each. Annotations become `objects`, which checks and writes boxes and
says how, for dataset.json. `labels` checks class numbers and names, `sample_of_files` makes a
sample of an image and the files beside it, `places` reads the bytes of samples, wherever they lie,
`parts` joins the splits, `braces` expands names of shards, `foreign` names the formats that other
libraries read. Other files that belong to an image are stored as they are.
"""
