"""Layouts as publishers and tools lay them out, each in miniature, and what becomes of each.

Each module has ``ROWS``, and says for each where the layout is published. Add one by adding a
module, or a row to one.
"""

import importlib
import pkgutil

from layouts.row import Row

ROWS: list[Row] = [
    row
    for module in pkgutil.iter_modules(__path__)
    if module.name != "row"
    for row in importlib.import_module(f"{__name__}.{module.name}").ROWS
]
