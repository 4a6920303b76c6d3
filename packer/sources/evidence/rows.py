"""Texts that have a value for each image, in order, and name none: labels, captions, poses."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from packer.sources.tables.texts import LINE, NUMBERS, ORDER, Evidence, Text
from packer.sources.trees.walk import is_named_as_image
from packer.words import shortened

_LEAST = 4  # images: as many lines as there are fewer may be chance
_DEEP = 2  # levels of objects in which a list is looked for
_MOST = 4  # bytes of a line, as a multiple of `LINE`
_NEARLY = 0.9  # of the lines of captions have two words
_SIGNS = ",\t;|"
_WORDS = re.compile(r"[^\W\d_]+[\s,]+[^\W\d_]")
_URL = re.compile(r"\w+://\S*")
_DIGEST = re.compile(r"\b(?:[0-9a-f]{8}){4,16}\b|sha\d+=", re.IGNORECASE)
_CODE = re.compile(r"(#|//|/\*|\*|<|import |from |def |[{}\]-])|.*[{};\\]$")


def in_order(text: Text, images: Mapping[int, str]) -> Evidence | None:
    """Return it as a list with a value for each image of a folder; None if it is not one.

    `images` are numbers of images, with the words for them.
    """
    if text.share < 1 or text.paths[1:] or text.is_binary:
        return None
    is_json = text.text.lstrip()[:1] in (b"[", b"{")
    content = re.sub(r"(?m)^# .*\n", "", text.text.decode("utf-8", "replace")).strip()
    lines = content.count("\n") + 1
    if not is_json and not {lines, lines - 1}.intersection(images):
        return None
    for rows in _values(content):
        if (
            len(rows) not in images
            or len(rows) < _LEAST
            or any(map(_names_an_image, rows[:_LEAST]))
            or all(map(_DIGEST.search, rows[:_LEAST]))
        ):
            continue
        shown = tuple(shortened(row, LINE) for row in rows[:2])
        reason = f"has a value for each of the {images[len(rows)]}"
        return Evidence(text.paths, len(rows), lines=shown, reason=reason, kind=ORDER)
    return None


def _values(content: str) -> Iterator[Sequence[str]]:
    """Yield the values of lists, if they are alike."""
    if content[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            yield from map(_written, _lists(json.loads(content), _DEEP))
        return
    lines = content.split("\n")
    if all(map(_is_value, lines)) and (
        _repeat(lines) or _are_numbers(lines) or _are_captions(lines)
    ):
        yield lines
    if _has_a_head(lines):
        yield lines[1:]


def _lists(content: Any, deep: int) -> Iterator[list[Any]]:
    if isinstance(content, list):
        if len(set(map(type, content))) <= 2 and (len(content) < 2 or _are_alike(content)):
            yield content
    elif isinstance(content, dict) and deep:
        for value in content.values():
            yield from _lists(value, deep - 1)


def _are_alike(values: Sequence[Any]) -> bool:
    keys = {tuple(sorted(one)) if isinstance(one, dict) else type(one) is list for one in values}
    if all(isinstance(one, str) for one in values):
        return _repeat(values) or _are_captions(values)
    return len(keys) == 1


def _written(values: Sequence[Any]) -> list[str]:
    return [one if isinstance(one, str) else json.dumps(one) for one in values]


def _is_value(line: str) -> bool:
    return bool(line.strip()) and len(line) <= _MOST * LINE


def _repeat(lines: Sequence[str]) -> bool:
    return 2 * len(set(lines)) <= len(lines) and max(map(len, lines)) <= LINE


def _are_numbers(lines: Sequence[str]) -> bool:
    matches = [NUMBERS.fullmatch(line) for line in lines]
    widths = {len(re.split(r"[\s,;]+", line.strip())) for line in lines}
    are_whole = all(line.strip().isdigit() for line in lines)
    return all(matches) and len(widths) == 1 and not are_whole


def _are_captions(lines: Sequence[str]) -> bool:
    if any(map(_CODE.match, lines)):
        return False
    return sum(bool(_WORDS.search(line)) for line in lines) >= _NEARLY * len(lines)


def _has_a_head(lines: Sequence[str]) -> bool:
    """Return whether these are a table with a line of names, of the same cells each."""
    head, body = lines[0], lines[1:]
    if not body or not all(map(_is_value, lines)) or re.search(r"\d|[^\w\s,;|.()/-]", head):
        return False
    if len(head.split()) == 1 and not set(_SIGNS).intersection(head):
        return _repeat(body) or _are_numbers(body)
    for sign in _SIGNS:
        rows = list(csv.reader(lines, delimiter=sign))
        if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return any(re.search(r"\d", cell) for cell in rows[1])
    return False


def _names_an_image(row: str) -> bool:
    return any(is_named_as_image(word) for word in re.split(r"[\s,;:|\"']+", _URL.sub("", row)))
