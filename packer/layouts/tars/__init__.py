"""Tars of samples: `source` reads them, `dots` finds the end of keys, `parts` joins splits.

`labelled` reads tables beside them.
"""
