"""Finds the ``FILE: FIELDS`` that reads a file that names images (pure).

Nothing of a record may be lost: if no template has its fields, no template is proposed.
"""

import csv
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from packer.sources.scanners.templates.lines import COMMENT, JSON, member
from packer.sources.scanners.templates.places import (
    LONGEST,
    ROLES,
    Names,
    are_labels,
    are_several,
    by_places,
    of_columns,
    of_rows,
    repeats,
)
from packer.sources.scanners.templates.records import SIGNS, records_in
from packer.sources.scanners.templates.template import KEY
from packer.sources.tables.names import IMAGE, LABEL, SPLIT, may_be_split
from packer.sources.tables.vectors import is_one_hot, is_vector
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import plain
from packer.sources.trees.walk import is_named_as_image

_BETWEEN = (": ", " = ", "=", None)  # the parts of a line
_FEW = 1000  # records that are looked at for their fields
_SHARE = 0.5  # of the records that must name an image
_DEEP = 3  # levels of members in which the name of an image is looked for
_ABOUT = frozenset(  # members that are no records
    {"metainfo", "info", "meta", "metadata", "schema", "columns", "index", "crs"}
)
_NAMES = frozenset({"types", "classes", "names"})  # members that are lists of names of classes


def proposed(path: str, text: str, names: Names, stems: Sequence[str] = ()) -> str | None:
    """Return the value of ``--labels`` that reads a file; None if no template reads all of it.

    `stems` are the names of all lists, which may be those of splits only together.
    """
    stem = os.path.splitext(os.path.basename(path))[0]
    split = splits_of([stem]).get(stem) or splits_of(sorted(stems)).get(stem)
    form = form_of(path, text, names, f" {{split={split}}}" if split else "")
    if form and "{split" not in form:
        form += "".join(f" {{split={one}}}" for one in splits_of([stem]).values())
    return form and f"{path}{'' if form.startswith('#') else ': '}{form}"


def form_of(path: str, text: str, names: Names, split: str = "") -> str | None:
    """Return the fields of the lines of a file; `split` is the field of a list of a split."""
    stem, suffix = os.path.splitext(os.path.basename(path))
    try:
        if suffix.lower() in JSON:
            return _of_json(json.loads(text), names)
        if text.lstrip().startswith("{"):
            lines = filter(str.strip, text.splitlines())
            return _of_records(list(map(json.loads, lines)), names)
        return _of_lines(text, split, names, stem)
    except (ValueError, RecursionError, csv.Error):
        return None


def in_order(path: str, text: str) -> str | None:
    """Return the value of ``--labels`` that reads a file of values in the order of images."""
    where, content = records_in(path, text)
    if content is None:
        return None
    if all(isinstance(one, dict) for one in content):
        fields = _fields(content, ())
        return fields and f"{path}{where}: {fields}"
    return f"{path}{where}: {{{_role(content, path)}}}"


def composed(path: str, text: str, columns: Sequence[str]) -> tuple[str, Mapping[str, str]] | None:
    """Return the value of ``--labels`` for a table whose `columns` name an image together.

    The last of them is the key. The fields of all columns are returned, too.
    """
    where, records = records_in(path, text)
    *others, last = columns
    groups = [tuple(str(one.get(name)) for name in columns) for one in records or ()]
    are_many = len({*groups}) < len({json.dumps(one, sort_keys=True) for one in records or ()})
    fields = _fields(records, (), has_label=not are_many) if records else None
    if fields is None:
        return None
    names = {column: name for name, column in re.findall(r"\{(\w+)[?+]*:([^}]*)\}", fields)}
    key = f"{{{KEY}{'+' * are_many}:{last}}}"
    return f"{path}{where}: {key} {fields}", {name: names[name] for name in others} | {last: KEY}


def _role(values: Sequence[Any], path: str) -> str:
    """Return the field for values in order: labels repeat, captions are of several words."""
    texts = list(map(str, values))
    are_short = all(isinstance(one, str | int) and len(str(one)) <= LONGEST for one in values)
    is_called_so = plain(os.path.splitext(os.path.basename(path))[0]) in LABEL
    if are_short and (2 - is_called_so) * len(set(texts)) <= len(texts):
        return "label"
    return "caption" if any(re.search(r"[^\W\d_]+\s+[^\W\d_]", text) for text in texts) else "value"


def _of_json(content: Any, names: Names) -> str | None:
    """Return the fields of a JSON value, behind ``#MEMBER: `` for those of its only member."""
    if isinstance(content, list):
        return of_rows(content, names) or _of_records(content, names)
    if not isinstance(content, dict) or not content:
        return None
    if sum(map(names, content)) >= _SHARE * len(content):
        return _of_mapping(content)
    if fields := _of_records(list(content.values()), names):
        return f"{{_}}: {fields}"
    if fields := _of_groups(content, names):
        return fields
    found = []
    for name, value in content.items():
        inner = _of_json(value, names) if isinstance(value, list | dict) and value else None
        if inner and "." not in name and not inner.startswith("#"):
            found.append(f"#{name}: {inner}")
        elif name in _NAMES and isinstance(value, list) and all(isinstance(v, str) for v in value):
            continue
        elif name not in _ABOUT and (isinstance(value, list) or _is_deep(value)):
            return None  # what it holds would be lost
    return found[0] if len(found) == 1 else None


def _is_deep(value: Any) -> bool:
    values = value.values() if isinstance(value, dict) else ()
    return any(isinstance(one, list | dict) and one for one in values)


def _of_groups(content: Mapping[str, Any], names: Names) -> str | None:
    """Return the form of an object of classes, or of splits, each with the list of its images."""
    if not all(isinstance(value, list) for value in content.values()):
        return None
    images = [one for value in content.values() for one in value]
    if not images or not all(type(one) in (str, int) and names(str(one)) for one in images):
        return None
    if len(set(images)) < len(images):
        return None
    return f"{{{SPLIT if len(splits_of(sorted(content))) == len(content) else 'label'}}}: {{key}}"


def _of_mapping(content: Mapping[str, Any]) -> str | None:
    """Return ``{key}: FIELDS`` for an object of names of images and of what belongs to each."""
    values = list(content.values())
    if all(isinstance(value, dict) for value in values):
        fields = _fields(values, ())
        return fields and f"{{key}}: {fields}"
    if any(isinstance(value, dict | list) for value in values):
        return None
    is_label = all(isinstance(value, str | int) and len(str(value)) <= LONGEST for value in values)
    return f"{{key}}: {{{'label' if is_label and repeats(values) else 'value'}}}"


def _of_records(records: Sequence[Any], names: Names) -> str | None:
    """Return the fields of objects that have the name of an image each."""
    if not records or not all(isinstance(record, dict) for record in records):
        return None
    counts: dict[tuple[str, ...], int] = {}
    for record in islice(records, _FEW):
        for path, value in _leaves(record, _DEEP):
            if isinstance(value, str | int) and names(str(value)):
                counts[path] = counts.get(path, 0) + 1
    for path in sorted(counts, key=lambda path: (-counts[path], plain(path[-1]) not in IMAGE)):
        values = [member(record, ".".join(path), None) for record in records]
        if counts[path] >= _SHARE * min(len(records), _FEW) and None not in values:
            return _keyed(records, path)
    return None


def _keyed(records: Sequence[Mapping[str, Any]], path: tuple[str, ...]) -> str | None:
    """Return the fields of records of which one or several belong to each image."""
    each = {json.dumps(record, sort_keys=True): record for record in records}
    are_many = len({str(member(one, ".".join(path))) for one in each.values()}) < len(each)
    fields = _fields(records, path, has_label=not are_many)
    return fields and f"{{{KEY}{'+' * are_many}:{'.'.join(path)}}} {fields}".strip()


def _fields(
    records: Sequence[Mapping[str, Any]], key: tuple[str, ...], *, has_label: bool = True
) -> str | None:
    """Return a field for all that the records have beside the key; None if one has no template."""
    found: dict[tuple[str, ...], list[Any]] = {}
    for record in records:
        for path, value in _beside(record, key):
            found.setdefault(path, []).append(value)
    if any(re.search(r"[.{}]", name) for path in found for name in path):
        return None
    vectors = [path for path, values in found.items() if all(map(is_vector, values))]
    if any(plain(path[-1]) in LABEL and not all(map(is_one_hot, found[path])) for path in vectors):
        return None  # of several labels, of which the json would have no numbers
    label, split = _label(found) if has_label else None, _split(found)
    if has_label and not label and len(vectors) == 1 and all(map(is_one_hot, found[vectors[0]])):
        (label,) = vectors
    fields, used = [], {*ROLES}
    for path, values in found.items():
        name = re.sub(r"\W", "_", "_".join(path)).lstrip("_0123456789") or "field"
        while name in used:
            name += "_"
        if path == label:
            name = "labels+" if are_several(values) else "label"
        name = SPLIT if path == split else name
        used.add(name)
        is_always = len(values) == len(records) and None not in values
        fields.append(f"{{{name}{'' if is_always else '?'}:{'.'.join(path)}}}")
    return " ".join(fields)


def _label(found: Mapping[tuple[str, ...], Sequence[Any]]) -> tuple[str, ...] | None:
    named = [path for path in found if plain(path[-1]) in LABEL]
    plainly = [
        p
        for p in named
        if are_several(found[p])
        or all(map(is_one_hot, found[p]))
        or all(
            isinstance(v, str | int) and len(str(v)) <= LONGEST and not is_named_as_image(str(v))
            for v in found[p]
            if v is not None
        )
    ]
    in_words = [p for p in plainly if all(isinstance(v, str) for v in found[p])]
    return next(iter([*in_words, *plainly]), None) if len(plainly) == len(named) else None


def _split(found: Mapping[tuple[str, ...], Sequence[Any]]) -> tuple[str, ...] | None:
    for path, values in found.items():
        if plain(path[-1]) == SPLIT or may_be_split(path[-1]):
            words = sorted({value for value in values if isinstance(value, str)})
            if words and len(splits_of(words)) == len(words):
                return path
    return None


def _leaves(record: Mapping[str, Any], deep: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in record.items():
        if isinstance(value, dict) and deep > 1:
            for path, leaf in _leaves(value, deep - 1):
                yield (name, *path), leaf
        else:
            yield (name,), value


def _beside(
    record: Mapping[str, Any], key: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the members beside that of the key, of the objects that hold it."""
    for name, value in record.items():
        if not key or name != key[0]:
            yield (name,), value
        elif key[1:]:
            for path, leaf in _beside(value, key[1:]):
                yield (name, *path), leaf


def _of_lines(text: str, split: str, names: Names, stem: str) -> str | None:
    """Return the form of a list: of a table with a line of names, or of fields by their places."""
    lines = [line for line in text.splitlines() if line.strip() and not COMMENT.match(line)]
    for sign in SIGNS:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=sign)]
        width = len(rows[0]) if rows else 0
        is_table = width > 1 and all(len(row) == width for row in rows)
        if is_table and (of_table := _of_table(rows, sign, names)):
            return of_table + ("" if "{split" in of_table else split)
    if form := of_columns([line.split() for line in lines], names, stem):
        return form + ("" if "{split" in form else split)
    for between in _BETWEEN:
        pairs = [line.split(between, 1) for line in lines]
        if all(len(pair) == 2 for pair in pairs) and (form := _of_pairs(pairs, names)):
            return form.replace(" ", between or " ") + split
    last = [line.rsplit(None, 1) for line in lines]
    if by_last := _of_pairs([pair for pair in last if len(pair) == 2], names):
        return by_last + split
    return f"{{key}}{split}" if split and all(names(line.strip()) for line in lines) else None


def _of_pairs(pairs: Sequence[Sequence[str]], names: Names) -> str | None:
    """Return the fields of lines of two parts, of which one names an image."""
    for pair, form in ((0, "{{key}} {{{}}}"), (1, "{{{}}} {{key}}")):
        known = [(row[pair].strip(" '\""), row[1 - pair].strip()) for row in pairs]
        known = [row for row in known if names(row[0])]
        is_unique = len({row[0] for row in known}) == len(known)
        if known and len(known) >= len(pairs) - 1 and is_unique and all(row[1] for row in known):
            values = [value for _, value in known]
            several = not any(" " in value for value in values) and are_several(values)
            return form.format("labels+" if several else "label" if are_labels(known) else "value")
    return None


def _of_table(rows: Sequence[Sequence[str]], sign: str, names: Names) -> str | None:
    columns = range(len(rows[0]))
    count = [sum(names(row[column]) for row in rows) for column in columns]
    key = max(columns, key=count.__getitem__)
    head, body = (rows[0], rows[1:]) if not names(rows[0][key]) else ((), rows)
    if not body or count[key] < _SHARE * len(body):
        return None
    if head:
        filled = [at for at, cells in enumerate(zip(*rows, strict=True)) if any(cells)]
        names_of = [head[at] for at in filled]
        if len(set(names_of)) < len(names_of) or not all(names_of):
            return None
        return _keyed([{head[at]: row[at] for at in filled} for row in body], (head[key],))
    between = "\\t" if sign == "\t" else sign
    return by_places(body, key, [], between)
