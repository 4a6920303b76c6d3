"""Tars of samples: `source` reads them, `dots` finds the end of keys, `splits` the splits.

`labelled` reads tables beside them.
"""
