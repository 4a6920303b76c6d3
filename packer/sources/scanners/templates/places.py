"""The fields of lists by their places: of lines, or of rows, of as many values each (pure)."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from packer.sources.scanners.templates.lines import values_of
from packer.sources.scanners.templates.template import KEY
from packer.sources.tables.names import LABEL, SPLIT
from packer.sources.tables.splits import NUMBERED
from packer.sources.trees.names import SPLITS, splits_of
from packer.sources.trees.shape import plain

Names = Callable[[str], bool]  # whether a text is the name of an image
LONGEST = 40  # characters of a class
ROLES = ("key", "label", "class", "split", "_")
_WIDEST = 100  # columns of a list without names
_FEW_SPLITS = 5
_OF_MANY = 3  # columns of a list without names that has several lines for an image
_NUMBERED = re.compile(r"partition|split", re.IGNORECASE)  # lists of splits that are numbers


def of_rows(rows: Sequence[Any], names: Names) -> str | None:
    """Return the fields of lists of as many values each: of what a row of a table has."""
    are_rows = bool(rows) and all(isinstance(row, list) and row for row in rows)
    if not are_rows or len({len(row) for row in rows}) > 1:
        return None
    texts = [[str(cell) for cell in row] for row in rows]
    columns = list(zip(*texts, strict=True))
    key = max(range(len(columns)), key=lambda at: sum(map(names, columns[at])))
    is_key = all(map(names, columns[key])) and len({*columns[key]}) == len(rows)
    return by_places(texts, key, [], " ") if is_key else None


def of_columns(rows: Sequence[Sequence[str]], names: Names, stem: str) -> str | None:
    """Return the fields of lines of as many words each, below a count and the words for them."""
    above = list(takewhile(lambda row: not any(map(names, row)), rows[:2]))
    head, body = (above or [[]])[-1], rows[len(above) :]
    width = len(body[0]) if body else 0
    if not 2 <= width <= _WIDEST or any(len(row) != width for row in body):
        return None
    count = [sum(names(row[column]) for row in body) for column in range(width)]
    key = max(range(width), key=count.__getitem__)
    keys = {row[key] for row in body}
    is_pair = width == 2 and not _NUMBERED.search(stem)
    if count[key] < len(body) or is_pair or (len(keys) < len(body) and width < _OF_MANY):
        return None
    alike = [
        word for word, *others in zip(*body, strict=True) if len(body) > 1 and {word} == {*others}
    ]
    if not head and sum(not _is_number(word) for word in alike) > 1:
        return None  # a sentence
    head = head if len(head) == width else ["", *head] if len(head) == width - 1 else []
    return by_places(body, key, head, " ", _NUMBERED.search(stem) is not None)


def by_places(
    rows: Sequence[Sequence[str]],
    key: int,
    head: Sequence[str],
    between: str,
    are_splits: bool = False,
) -> str | None:
    """Return the fields of lines by their places, named by the words above them."""
    columns = [[row[at] for row in rows] for at in range(len(rows[0]))]
    others = [at for at in range(len(columns)) if at != key]
    roles = {key: KEY}
    for at in others:
        values = set(columns[at])
        known = splits_of(sorted(values))
        is_split = SPLITS.intersection(known.values()) and len(values) <= _FEW_SPLITS
        if (is_split or (are_splits and values <= NUMBERED.keys())) and SPLIT not in roles.values():
            roles[at] = SPLIT
    rest = [at for at in others if at not in roles]
    are_many = len({*columns[key]}) < len(rows)
    plainly = [at for at in rest if head and plain(head[at]) in LABEL]
    in_words = [at for at in rest if not any(map(_is_number, columns[at]))]
    numbers = [at for at in rest if not head and _may_be_classes(columns[at])]
    each = {tuple(row[at] for at in numbers) for row in rows}
    if numbers and len(each) > len({*columns[numbers[0]]}):
        numbers = []  # the others do not follow from the first: those of a box
    for at in () if are_many else plainly or in_words or numbers[:1]:
        pairs = list(zip(columns[key], columns[at], strict=True))
        if others[1:] and len({*columns[at]}) == 1:
            continue
        if are_several(columns[at]):
            roles[at] = "labels+"
        elif "label" not in roles.values() and are_labels(pairs):
            roles[at] = "label"
    used = set(roles.values()) | {*ROLES}
    for at in rest:
        if at not in roles:
            name = re.sub(r"\W|^(?=\d)", "_", head[at]) if head else f"value{at}"
            while name in used:
                name += "_"
            roles[at] = name
            used.add(name)
    roles[key] = f"{KEY}+" if are_many else KEY
    return between.join(f"{{{roles[at]}}}" for at in range(len(columns)))


def are_several(values: Sequence[Any]) -> bool:
    """Return whether texts are several words each, which others have, too."""
    texts = {value for value in values if isinstance(value, str)}
    parts = {text: values_of(text) for text in texts}
    words = Counter(word for each in parts.values() for word in each)
    again = sum(count > 1 for count in words.values())
    are_numbers = all(map(_is_whole, words))
    are_short = all(len(word) <= LONGEST for word in words)
    if not any(len(each) > 1 for each in parts.values()) or not are_short:
        return False
    if any("|" in text for text in texts):  # which is rarely part of a name
        return True
    return are_numbers or 2 * again >= len(words)


def _may_be_classes(values: Sequence[str]) -> bool:
    return len({*values}) > 1 and repeats(values) and all(map(_is_whole, values))


def _is_whole(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(\.0+)?", text))


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+]?[\d.]+", text))


def are_labels(pairs: Sequence[Sequence[str]]) -> bool:
    """Return whether the second of each pair may be the class of the first, which is named once."""
    keys, values = [pair[0] for pair in pairs], [pair[1].strip() for pair in pairs]
    is_short = all(value and len(value) <= LONGEST and "://" not in value for value in values)
    are_flags = "-1" in values  # VOC's lists of a class
    return len(set(keys)) == len(keys) and is_short and not are_flags and repeats(values)


def repeats(values: Sequence[Any]) -> bool:
    """Return whether values come again, as those of classes do."""
    return len(set(map(str, values))) < max(len(values), 2)
