"""The lines that ``--labels 'FILE: FIELDS'`` describes, of text, CSV, JSON and JSON lines."""

import codecs
import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from packer.errors import UnusableInput
from packer.layouts.templates.template import NOTHING, Field, Template, fail, parse
from packer.trees.shape import inside
from packer.trees.tree import Tree
from packer.words import listed, option

_JSON, _JSON_LINES = (".json",), (".jsonl", ".ndjson")
_DELIMITERS = (",", "\t", ";", "|")
_MOST = 1 << 30  # bytes of a JSON file
_CHUNK = 1 << 20
_MISSING = object()
_MEMBER = re.compile(r"(.*\.json)#(.+)", re.IGNORECASE | re.DOTALL)  # of a file that is an object

Line = tuple[int, dict[str, Any] | str]  # its number, and its fields or why it has none


@dataclass(frozen=True)
class ListTemplate:
    """``FILE: FIELDS``, parsed."""

    text: str
    file: str
    parts: tuple[str | Field, ...]  # of a line
    member: str = ""  # of a JSON object, that holds the records: "items", "data.items"

    @classmethod
    def of(cls, text: str) -> "ListTemplate":
        """Parse one; raise UnusableInput with the position of a fault."""
        file, colon, form = text.partition(": ")
        if not colon or not file.strip() or not form.strip():
            raise UnusableInput(
                f"{option('labels')} {text!r} is not of the form 'FILE: FIELDS', such as "
                "'list.txt: {key} {label}'."
            )
        parts = parse(form.strip().replace("\\t", "\t"), option("labels"))
        file, member = file.strip().removeprefix("./"), ""
        if divided := _MEMBER.fullmatch(file):
            file, member = divided.groups()
        found = cls(text, file, parts, member)
        names = [one.name for one in found.fields if one.name != NOTHING]
        if again := next((one for one in found.fields if names.count(one.name) > 1), None):
            fail(
                option("labels"),
                form,
                again.at - 1,
                f"{{{again.name}}} comes twice. Write {{_}} for one",
            )
        shown = [part for part in parts if isinstance(part, str) or part.value is None]
        for before, after in pairwise(shown):
            if isinstance(before, Field) and isinstance(after, Field):
                fail(
                    option("labels"),
                    form,
                    after.at - 1,
                    "nothing divides this field from the one before it",
                )
        if not names:
            raise UnusableInput(
                f"{option('labels')} {text!r} has no field, such as {{key}} or {{label}}."
            )
        return found

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of a line."""
        return tuple(part for part in self.parts if isinstance(part, Field))

    @cached_property
    def has_columns(self) -> bool:
        """Whether fields name columns, or members of JSON objects."""
        return any(one.spec for one in self.fields)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The fields of a line and of the file's path, sorted."""
        names = {one.name for one in self.fields}
        if "{" in self.file:
            names |= Template.of(self.file, option("labels"), needs_key=False).names
        return tuple(sorted(names - {NOTHING}))

    def files(self, tree: Tree) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the files that are meant, each with the fields of its path."""
        if not set("{*").intersection(self.file):
            if not tree.has(self.file):
                raise UnusableInput(
                    f"{option('labels')} {self.text!r}: {tree.root} has no file "
                    f"{self.file}. FILE is relative to SRC."
                )
            yield self.file, {}
            return
        template = Template.of(self.file, option("labels"), needs_key=False)
        is_found = False
        for folder, _ in tree.walk(template.folder):
            for path in (inside(folder, name) for name in tree.names(folder)):
                if (fields := template.match(path)) is not None:
                    is_found = True
                    yield path, fields
        if not is_found:
            raise UnusableInput(
                f"{option('labels')} {self.text!r}: no file of {tree.root} is named so."
            )


def read_lines(tree: Tree, path: str, template: ListTemplate, remarks: list[str]) -> Iterator[Line]:
    """Yield the number of each line with its fields, or with the reason why it has none."""
    suffix = path[path.rfind(".") :].lower()
    if suffix in _JSON:
        content = _member(json_of(tree, path), template.member)
        if content is _MISSING:
            raise UnusableInput(f"{tree.root / path} has no member {template.member!r}.")
        yield from _of_json(content, template, tree.root / path)
        return
    encoding = encoding_of(tree, path)
    if encoding == "latin-1":
        remarks.append(f"{path} is not UTF-8. It is read as Latin-1.")
    opened: Callable[[], io.TextIOWrapper] = lambda: io.TextIOWrapper(  # noqa: E731
        tree.watched(path).open(), encoding, newline=""
    )
    with opened() as file:
        try:
            if suffix in _JSON_LINES or (template.has_columns and _begins_an_object(file)):
                yield from _of_json_lines(file, template, tree.root / path)
            elif template.has_columns:
                yield from _of_columns(file, template, tree.root / path)
            else:
                divide = divider(template.parts)
                for number, line in enumerate(file, 1):
                    if line := line.strip():
                        fields = divide(line)
                        reason = f"it is not of the form {template.text.partition(': ')[2].strip()}"
                        yield number, reason if fields is None else fields
        except (UnicodeError, csv.Error) as error:
            raise UnusableInput(f"{tree.root / path} cannot be read as text: {error}.") from error


def _begins_an_object(file: io.TextIOWrapper) -> bool:
    """Return whether JSON lines have another extension, such as SageMaker's ``.manifest``."""
    is_object = file.read(1) == "{"
    file.seek(0)
    return is_object


def encoding_of(tree: Tree, path: str) -> str:
    """Return how a text is encoded: UTF-8, UTF-16 with its mark, or else Latin-1."""
    with tree.watched(path).open() as file:
        if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return "utf-16"
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for chunk in iter(partial(file.read, _CHUNK), b""):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "latin-1"
    return "utf-8-sig"


def json_of(tree: Tree, path: str) -> Any:
    """Return the content of a JSON file."""
    data = tree.whole(path, _MOST)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnusableInput(f"{tree.root / path} is not JSON: {error}.") from error


def divider(parts: Sequence[str | Field]) -> Callable[[str], dict[str, str] | None]:
    """Return the function from a line to its fields; None for a line of another form.

    A field ends where the text behind it first comes, white space for white space; the last one
    takes the rest.
    """
    shown = [part for part in parts if isinstance(part, str) or part.value is None]
    constants = {p.name: p.value for p in parts if isinstance(p, Field) and p.value is not None}
    first = ""
    if isinstance(shown[0], str):
        first, shown = shown[0].strip(), shown[1:]
    steps = []
    for number, part in enumerate(shown):
        if isinstance(part, Field):
            text = shown[number + 1] if number + 1 < len(shown) else ""
            text = text if isinstance(text, str) else ""
            steps.append((part.name, None if text.isspace() else text))

    def divide(line: str) -> dict[str, str] | None:
        if not line.startswith(first):
            return None
        found: dict[str, Any] = {**constants}
        rest = line[len(first) :].strip()
        for number, (name, separator) in enumerate(steps):
            is_last = number == len(steps) - 1
            if is_last and not separator:
                value, rest = rest, ""
            elif is_last:
                if not rest.endswith(str(separator).rstrip()):
                    return None
                value = rest[: len(rest) - len(str(separator).rstrip())]
            else:
                pieces = rest.split(separator, 1)
                if rest[:1] == '"' and (end := rest.find(f'"{separator}', 1)) > 0:
                    pieces = [rest[: end + 1], rest[end + 1 + len(str(separator)) :]]
                if len(pieces) < 2:
                    return None
                value, rest = pieces
            value = value.strip()
            if len(value) > 1 and value[0] == value[-1] == '"':
                value = value[1:-1].replace('""', '"')
            if not value:
                return None
            if name != NOTHING:
                found[name] = value
        return found

    return divide


def _of_columns(file: io.TextIOWrapper, template: ListTemplate, where: object) -> Iterator[Line]:
    """Yield the records of a table with a line of names."""
    wanted = {one.name: one.spec or one.name for one in template.fields if one.value is None}
    constants = {one.name: one.value for one in template.fields if one.value is not None}
    head = file.readline()
    sniffed = [sign for sign in _DELIMITERS if set(wanted.values()) <= set(_names(head, sign))]
    names = _names(head, sniffed[0] if sniffed else max(_DELIMITERS, key=head.count))
    if lacking := [column for column in wanted.values() if column not in names]:
        raise UnusableInput(f"{where} has no column {lacking[0]!r}. It has {listed(names, 20)}.")
    at = {name: names.index(column) for name, column in wanted.items()}
    used = [one for one in template.fields if one.value is None and one.name != NOTHING]
    rows = csv.reader(file, delimiter=sniffed[0] if sniffed else ",")
    for row in rows:
        if len(row) == len(names):
            cells = {one: row[at[one.name]].strip() for one in used}
            found = {one.name: c for one, c in cells.items() if c or not one.is_optional}
            yield rows.line_num + 1, {**constants, **found}
        elif row:
            reason = f"it has {len(row)} fields, and the first line {len(names)}"
            yield rows.line_num + 1, reason


def _names(head: str, delimiter: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([head], delimiter=delimiter), [])]


def _of_json_lines(file: io.TextIOWrapper, template: ListTemplate, where: object) -> Iterator[Line]:
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                item = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield number, f"it is not JSON: {error}"
                continue
            if not _is_mapping(template) or not isinstance(item, dict):
                item = [item]
            for _, found in _of_json(item, template, where):
                yield number, found


def _of_json(content: Any, template: ListTemplate, where: object) -> Iterator[Line]:
    """Yield the records of a JSON value, numbered from 1."""
    constants = {one.name: one.value for one in template.fields if one.value is not None}
    first, *others = [one for one in template.fields if one.value is None]
    number = 0
    if _is_mapping(template):
        if not isinstance(content, dict):
            raise UnusableInput(
                f"{where} is no JSON object. For a list of objects, write their members, such as "
                "'{key:file} {label:class}'."
            )
        for name, value in content.items():
            for item in value if isinstance(value, list) and len(others) == 1 else [value]:
                number += 1
                found = _found(item, others)
                yield number, _complete({first.name: name, **constants, **found})
        return
    if not isinstance(content, list):
        raise UnusableInput(
            f"{where} is no JSON list. For an object of names and values, write "
            "'{key}: {label}', or '{key}: {label:member}'."
        )
    wanted = (first, *others)
    for number, item in enumerate(content, 1):
        if isinstance(item, list) and not template.has_columns and len(item) == len(wanted):
            found = {one.name: value for one, value in zip(wanted, item, strict=True)}
        else:
            found = _found(item, wanted)
        yield number, _complete({**constants, **found})


def _found(item: Any, fields: Sequence[Field]) -> dict[str, Any]:
    """Return the fields of a record; an optional one without a value is none of them."""
    is_object = isinstance(item, dict)
    values = {one: _member(item, one.spec or (one.name if is_object else "")) for one in fields}
    none = (_MISSING, None)
    return {one.name: v for one, v in values.items() if not (one.is_optional and v in none)}


def _is_mapping(template: ListTemplate) -> bool:
    """Whether a template is of an object: ``{key}: {label}``."""
    after = template.parts[1] if len(template.parts) > 1 else ""
    return isinstance(after, str) and after.strip().startswith(":")


def _complete(fields: dict[str, Any]) -> dict[str, Any] | str:
    fields.pop(NOTHING, None)
    lacking = [name for name, value in fields.items() if value is _MISSING]
    return f"it has no value for {{{lacking[0]}}}" if lacking else fields


def _member(value: Any, path: str) -> Any:
    for name in path.split(".") if path else ():
        value = value.get(name, _MISSING) if isinstance(value, dict) else _MISSING
    return value
