"""Layouts as publishers and tools lay them out, each in miniature, and what becomes of each.

Each module has ``ROWS``, and says for each where the layout is published. Add one by adding a
module, or a row to one.
"""

import importlib
import pkgutil

from layouts.row import Row

_MODULES = [importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)]

ROWS: list[Row] = [row for module in _MODULES for row in getattr(module, "ROWS", ())]
