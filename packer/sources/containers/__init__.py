"""Files in which other libraries keep samples, as entries with named fields.

A format has a module, which finds where the bytes lie and decompresses nothing: no library of the
format is needed, and no pickle is run. `entries` is what they share. The scanner of rows
makes samples of the entries.
"""
