"""Tars of samples: `source` reads them, `dots` finds the end of keys, `splits` the splits.

`labelled` joins them with tables beside them.
"""
