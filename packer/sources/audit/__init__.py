"""What the outcome of a scan could have lost, asked before anything is written.

It knows no recogniser. `outcome` is the table of samples and the folders of their names; `divided`,
`contradictions`, `scenes`, `parts`, `counted`, `endings`, `split_words`, `named` and `copies` are
the questions, pure functions over it. `ask` raises the first that finds something, with a command
for each interpretation.
"""
