"""Other tools' ways: tars from elsewhere, and files for other readers.

`index` makes a dataset of tars that lie there (`rows` reads them), `export` writes the indexes
that `dali`, `wids` and `energon` want (by `tool_files`), `extract` gives the files back.
"""
