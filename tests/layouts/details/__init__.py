"""What a scan makes of single names, cells, lines and files, each in a layout made for it.

The rows are written as those of `scanned` are, whose layouts are published ones.
"""

from pathlib import Path

from layouts.row import Row
from layouts.scanned import groups

ROWS: list[Row] = [row for rows in groups(Path(__file__).parent).values() for row in rows]
