"""The lines that ``--labels 'FILE: FIELDS'`` describes, of text, CSV, JSON and JSON lines."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.files.text import LATIN, Encoding, encoding_of, open_text
from packer.sources.scanners.templates.template import (
    KEY,
    NOTHING,
    Field,
    Form,
    Template,
    fail,
    parse,
)
from packer.sources.tables.table import Delimited, JsonLines, LineTable
from packer.sources.trees.folder import HIDDEN
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import DELIMITERS, JSON_LINES
from packer.words import Message, listed, option

COMMENT = re.compile(r"#(?:[-=#\s]|$)")  # at the beginning of a line
_MOST = 1 << 30  # bytes of a JSON file
_MISSING = object()
JSON = (".json", ".geojson")
_MEMBER = re.compile(
    r"(.*\.(?:geo)?json)#(.+)", re.IGNORECASE | re.DOTALL
)  # of a file that is an object

Line = tuple[int, dict[str, Any] | str]  # its number, and its fields or why it has none


@dataclass(frozen=True)
class ListTemplate(Form):
    """``FILE: FIELDS``, parsed; the parts are those of a line."""

    file: str
    member: str = ""  # of a JSON object, that holds the records: "items", "data.items"
    is_optional: bool = False  # ``FILE?``: it may name some of the images only

    @classmethod
    def of(cls, text: str) -> "ListTemplate":
        """Parse one; raise UnusableInput with the position of a fault."""
        what = option("labels")
        file, _, form = (part.strip() for part in text.partition(": "))
        if not file or not form:
            raise UnusableInput(
                what,
                f" {text!r} is not of the form 'FILE: FIELDS', such as "
                "'list.txt: {key} {label}'.",
            )
        parts = parse(form.replace("\\t", "\t"), what)
        is_optional, member = file.endswith("?"), ""
        file = file.removeprefix("./").removesuffix("?")
        if divided := _MEMBER.fullmatch(file):
            file, member = divided.groups()
        found = cls(text, parts, file, member, is_optional)
        names = [one.name for one in found.fields if one.name != NOTHING]
        if again := next((one for one in found.fields if names.count(one.name) > 1), None):
            fail(what, form, again.at - 1, f"{{{again.name}}} comes twice. Write {{_}} for one")
        for before, after in pairwise(found.shown):
            if isinstance(before, Field) and isinstance(after, Field):
                reason = "no text separates this field from the one before it"
                fail(what, form, after.at - 1, reason)
        if not names:
            raise UnusableInput(what, f" {text!r} has no field, such as {{key}} or {{label}}.")
        return found

    @cached_property
    def wanted(self) -> list[Field]:
        """The fields that a record has to have."""
        return [part for part in self.shown if isinstance(part, Field)]

    @cached_property
    def has_columns(self) -> bool:
        """Whether fields name columns, or members of JSON objects."""
        return any(one.spec for one in self.fields)

    @property
    def is_of_object(self) -> bool:
        """Whether records are members of one object: ``{key}: {label}``."""
        after = self.parts[1] if len(self.parts) > 1 else ""
        return isinstance(after, str) and after.strip().startswith(":")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The fields of a line and of the file's path, sorted."""
        names = {one.name for one in self.fields}
        if "{" in self.file:
            names |= Template.of(self.file, option("labels"), needs_key=False).names
        return tuple(sorted(names - {NOTHING}))

    def files(self, tree: Tree) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the files that are meant, each with the fields of its path."""
        what = Message(option("labels"), f" {self.text!r}")
        if not set("{*").intersection(self.file):
            if tree.hides(self.file):
                raise UnusableInput(what, f": {self.file} is there, and ", *HIDDEN.parts, ".")
            if not tree.has(self.file):
                raise UnusableInput(
                    what,
                    f": {tree.root} has no file {self.file}. FILE is a path relative to SRC.",
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
            raise UnusableInput(what, f": no file of {tree.root} has this name.")

    def divided(self, found: dict[str, Any]) -> dict[str, Any]:
        """Return the fields of a line, with the values of those that have several."""
        several = {one.name for one in self.fields if one.is_several} - {KEY}
        return found | {name: values_of(found[name]) for name in several.intersection(found)}

    @property
    def are_many(self) -> bool:
        """Whether an image may have several lines: ``{key+}``."""
        return any(one.name == KEY and one.is_several for one in self.fields)

    def record(self, item: Any, fields: Sequence[Field]) -> dict[str, Any] | str:
        """Return the fields of a record, or why it has none; an optional one may be missing."""
        found, is_object = dict(self.constants), isinstance(item, dict)
        for one in fields:
            value = member(item, one.spec or (one.name if is_object else ""))
            if one.name == NOTHING or (one.is_optional and value in (_MISSING, None)):
                continue
            if value is _MISSING:
                return f"it has no value for {{{one.name}}}"
            found[one.name] = value
        return found


def read_lines(tree: Tree, path: str, template: ListTemplate, remarks: list[str]) -> Iterator[Line]:
    """Yield the number of each line with its fields, or with the reason why it has none."""
    file, suffix = tree.watched(path), path[path.rfind(".") :].lower()
    encoding = encoding_of(file)
    if encoding.name == LATIN:
        remarks.append(f"{path} is not UTF-8. It is read as Latin-1.")
    of_json = partial(_of_json, template=template, where=tree.root / path)
    if suffix in JSON:
        content = member(_json(file, encoding), template.member)
        if content is _MISSING:
            raise UnusableInput(f"{tree.root / path} has no member {template.member!r}.")
        yield from of_json(content)
        return
    if suffix in JSON_LINES or (template.has_columns and _begins_an_object(file, encoding)):
        for number, item in JsonLines((file,), encoding=encoding).numbered():
            is_whole = template.is_of_object and isinstance(item, dict)
            is_bad = isinstance(item, BadImage)
            found = [(0, str(item))] if is_bad else of_json(item if is_whole else [item])
            yield from ((number, fields) for _, fields in found)
        return
    table = _Texts((file,), encoding=encoding, template=template)
    for number, row in _columns(file, template) if template.has_columns else table.numbered():
        yield number, str(row) if isinstance(row, BadImage) else row


def _begins_an_object(file: Watched, encoding: Encoding) -> bool:
    """Return whether JSON lines have another extension, such as SageMaker's ``.manifest``."""
    with open_text(file, encoding) as content:
        return content.read(1) == b"{"


def _json(file: Watched, encoding: Encoding) -> Any:
    if file.size > _MOST:
        raise UnusableInput(f"{file.path} has more than {_MOST} bytes.")
    try:
        with open_text(file, encoding) as content:
            return json.load(content)
    except (ValueError, RecursionError) as error:
        raise UnusableInput(f"{file.path} is not JSON: {error}.") from error


@dataclass(frozen=True)
class _Texts(LineTable):
    """Lines of the form of a template."""

    template: ListTemplate | None = None

    def parse(self, lines: Iterator[str]) -> Iterator[dict[str, str] | None]:
        assert self.template is not None, "all images have one"
        divide = divider(self.template)
        for line in map(str.strip, lines):
            line = "" if COMMENT.match(line) else line
            if line and (found := divide(line)) is None:
                form = self.template.text.partition(": ")[2].strip()
                raise BadImage(f"it is not of the form {form}")
            yield found if line else None


def divider(form: Form) -> Callable[[str], dict[str, str] | None]:
    """Return the function from a line to its fields; None for a line of another form.

    A field ends where the text behind it first comes, white space for white space; the last one
    takes the rest.
    """
    shown = form.shown
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
        found = dict(form.constants)
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


def _columns(file: Watched, template: ListTemplate) -> Iterator[tuple[int, Any]]:
    """Yield the records of a table with a line of names."""
    wanted = frozenset(one.spec or one.name for one in template.wanted)
    usual = DELIMITERS.get(file.path.suffix.lower(), ",")
    tables = [Delimited.open(file, sign, wanted) for sign in (usual, ",", "\t", ";", "|")]
    table = next((one for one in tables if wanted.issubset(one.columns)), tables[0])
    if lacking := [name for name in sorted(wanted) if name not in table.columns]:
        known = listed(table.columns, 20)
        raise UnusableInput(f"{file.path} has no column {lacking[0]!r}. It has {known}.")
    if any(table.names.count(name) > 1 for name in wanted):
        raise UnusableInput(table.fault)
    needed = {one.spec or one.name for one in template.wanted if not one.is_optional}
    for number, row in table.numbered():
        if isinstance(row, dict):
            cells = {name: row[name].strip() for name in wanted}
            row = {name: cell for name, cell in cells.items() if cell or name in needed}
            row = template.record(row, template.wanted)
        yield number, row


def _of_json(content: Any, template: ListTemplate, where: object) -> Iterator[Line]:
    """Yield the records of a JSON value, numbered from 1."""
    if template.is_of_object:
        if not isinstance(content, dict):
            raise UnusableInput(
                f"{where} is no JSON object. For a list of objects, write their members, such as "
                "'{key:file} {label:class}'."
            )
        first, *others = template.wanted
        number = 0
        for name, value in content.items():
            given = {} if first.name == NOTHING else {first.name: name}
            for item in value if isinstance(value, list) and len(others) == 1 else [value]:
                number += 1
                found = template.record(item, others)
                yield number, found if isinstance(found, str) else {**given, **found}
        return
    if not isinstance(content, list):
        raise UnusableInput(
            f"{where} is no JSON list. For an object of names and values, write "
            "'{key}: {label}', or '{key}: {label:member}'."
        )
    for number, item in enumerate(content, 1):
        is_row = isinstance(item, list) and not template.has_columns
        if is_row and len(item) == len(template.wanted):
            item = {one.name: value for one, value in zip(template.wanted, item, strict=True)}
        yield number, template.record(item, template.wanted)


def values_of(value: Any) -> list[Any]:
    """Return the values in a text, which ``|``, ``;``, ``,`` or blanks divide."""
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    sign = next((sign for sign in "|;," if sign in value), None)
    return [text for part in value.split(sign) if (text := part.strip())]


def member(value: Any, path: str, otherwise: object = _MISSING) -> Any:
    """Return the value at a path of members; at "", the whole value."""
    if isinstance(value, dict) and path in value:
        return value[path]
    for name in path.split(".") if path else ():
        value = value.get(name, otherwise) if isinstance(value, dict) else otherwise
    return value
