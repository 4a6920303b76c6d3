"""What can be packed.

`detect` tells what a path holds, as a `reading`; `options` is what a person may say of it. Every
source yields `records`. `labels` checks class numbers and names, `unlabelled` says what could have
been a label, `parts` joins the splits; each kind of source has a room of its own. A new kind is a
room, a recogniser in `detect` and its name in `options`. Files that belong to an image are stored
as they are: boxes are parsed when they are read, by `reader.samples.boxes`.
"""
