"""What the outcome of a scan could have lost, asked before anything is written.

It knows no recogniser. `outcome` is the table of samples and the folders that their names have;
`divided`, `parts`, `endings`, `named` and `copies` are the questions, small pure functions over it,
with `tokens` of names, and `ask` raises the first that finds something, with each interpretation as
a command. Any option that chooses a layout has answered them.
"""
