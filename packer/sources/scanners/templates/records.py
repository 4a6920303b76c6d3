"""The objects or values of a file in its order, whatever they say of images (pure)."""

import csv
import json
import os
import re
from typing import Any

from packer.sources.trees.walk import DELIMITERS

SIGNS = (",", "\t", ";", "|")  # between the columns of a table


def records_in(path: str, text: str) -> tuple[str, list[Any] | None]:
    """Return the objects or the values that a file has in its order; None if it has none.

    The first is what follows the path of a JSON file, ``#MEMBER`` for the only list in it.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix == ".json":
        try:
            content, where = json.loads(text), ""
        except (ValueError, RecursionError):
            return "", None
        if isinstance(content, dict):
            lists = [name for name, value in content.items() if isinstance(value, list)]
            if len(lists) != 1 or "." in lists[0]:
                return "", None
            where, content = f"#{lists[0]}", content[lists[0]]
        return where, content if isinstance(content, list) and content else None
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("{"):
        try:
            return "", [json.loads(line) for line in lines]
        except ValueError:
            return "", None
    signs = sorted(SIGNS, key=lambda sign: sign not in lines[0]) if lines else []
    for sign in signs if lines and _is_head(lines[0]) else ():
        rows = list(csv.reader(lines, delimiter=sign))
        is_table = suffix in DELIMITERS or any(
            re.search(r"\d", cell) for row in rows[1:2] for cell in row
        )
        if is_table and len(rows) > 1 and len({len(row) for row in rows}) == 1:
            return "", [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]
    return "", list(lines) or None


def _is_head(line: str) -> bool:
    return not re.search(r"\d", line) and bool(re.fullmatch(r"[\w\s,;|\t.()/-]+", line))
