"""The HTML by which notebooks show a dataset and a table; all text is escaped."""

import base64
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reader.look.sheet import Sheet

_WIDE = "max-width: 100%"  # a notebook may be narrow
_CELL = "padding: 1px 10px 1px 0; text-align: left"


def table(title: str, rows: Iterable[tuple[str, str]], sheet: "Sheet | None" = None) -> str:
    cells = "".join(
        f'<tr><th style="{_CELL}">{escape(name)}</th><td style="{_CELL}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    picture = ""
    if sheet is not None:
        data = base64.b64encode(sheet.png()).decode("ascii")
        picture = (
            f'<img alt="some of its samples" style="{_WIDE}" src="data:image/png;base64,{data}">'
        )
    parts = f"<b>{escape(title)}</b><table>{cells}</table>{picture}"
    return f'<div style="{_WIDE}; overflow-x: auto; overflow-wrap: anywhere">{parts}</div>'
