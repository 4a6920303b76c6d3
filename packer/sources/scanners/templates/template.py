"""Templates such as ``{split}/{label}/{key}``: parsed, matched with paths, and filled (pure)."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NoReturn

from packer.errors import UnusableInput
from packer.words import Message, Part, option

KEY = "key"
PATH = "path"  # in a member's template: the image's, below the folder of all, without extension
NOTHING = "_"
ALL = "all"
LETTERS = "letters"
_FIELD = re.compile(r"([A-Za-z_]\w*)([?+]*)(?:([:=])(.*))?", re.DOTALL)
_GLOB = re.compile(r"(\*+)")
_STAR = "\0"  # a star that stands for itself: no path has this sign
_EXTENSION = r"(?:(?<=[^/])\.[^./]*)?"


@dataclass(frozen=True)
class Field:
    """A field in braces: ``{name}``, ``{name:spec}`` or, with a fixed value, ``{name=value}``."""

    name: str
    at: int  # the position of its brace, from 1
    spec: str = ""
    value: str | None = None
    is_optional: bool = False  # ``{name?:spec}``: a record may lack it
    is_several: bool = False  # ``{name+:spec}``: its text is several values


def parse(text: str, what: Part) -> tuple[str | Field, ...]:
    """Return the texts and fields of a template; `what` names it in errors."""
    parts: list[str | Field] = []
    plain, at = "", 0
    while at < len(text):
        sign = text[at]
        if text[at : at + 2] in ("{{", "}}"):
            plain, at = plain + sign, at + 2
        elif text[at : at + 3] == "[*]":
            plain, at = plain + _STAR, at + 3
        elif sign == "{":
            end = text.find("}", at)
            if end < 0:
                fail(what, text, at, "this brace is not closed. For a brace in a name, write {{")
            parts += [plain] * bool(plain) + [_field(text, what, at, end)]
            plain, at = "", end + 1
        elif sign == "}":
            fail(what, text, at, "this brace closes nothing. For a brace in a name, write }}")
        else:
            plain, at = plain + sign, at + 1
    return (*parts, plain) if plain else tuple(parts)


def fail(what: Part, text: str, at: int, *reason: Part) -> NoReturn:
    """Raise for a fault at a position, counted from 0."""
    raise UnusableInput(what, f" {text!r}, character {at + 1}: ", *reason, ".")


def _field(text: str, what: Part, at: int, end: int) -> Field:
    found = _FIELD.fullmatch(text[at + 1 : end])
    if not found:
        reason = f"{text[at : end + 1]} is no field. A field is a name, such as {{label}} or {{_}}"
        fail(what, text, at, reason)
    name, marks, sign, rest = found.groups()
    if sign and not rest:
        fail(what, text, at, f"nothing follows the {sign}. Write {{{name}}}, or complete it")
    value = rest if sign == "=" else None
    spec = "" if sign == "=" else rest or ""
    return Field(name, at + 1, spec, value, "?" in marks, "+" in marks)


@dataclass(frozen=True)
class Form:
    """Texts and fields, parsed."""

    text: str
    parts: tuple[str | Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields in the order of the text."""
        return tuple(part for part in self.parts if isinstance(part, Field))

    @cached_property
    def constants(self) -> dict[str, str]:
        """The fields with a fixed value."""
        given = (one for one in self.fields if one.value is not None and not one.is_optional)
        return {one.name: str(one.value) for one in given}

    @cached_property
    def defaults(self) -> dict[str, str]:
        """The fields with a value unless a list has another: ``{split?=train}``."""
        given = (one for one in self.fields if one.value is not None and one.is_optional)
        return {one.name: str(one.value) for one in given}

    @cached_property
    def shown(self) -> list[str | Field]:
        """All but the fields with a fixed value."""
        return [part for part in self.parts if isinstance(part, str) or part.value is None]


@dataclass(frozen=True)
class Template(Form):
    """A pattern of paths.

    A field stands for a part of one component, ``{key}`` at the beginning of the last component for
    all that is left. Where a path can be divided in several ways, the first fields are the longest.
    A template that ends without an extension fits any. ``[*]`` is a star in a name.
    """

    what: Part  # the option, for errors

    @classmethod
    def of(cls, text: str, what: Part, *, needs_key: bool = True) -> "Template":
        """Parse a template of paths; raise UnusableInput with the position of a fault."""
        clean = text.removeprefix("./")
        template = cls(clean, parse(clean, what), what)
        names = [field.name for field in template.fields]
        if not clean or clean.startswith("/"):
            raise UnusableInput(
                what,
                f" {text!r} is not a path in the source. Paths begin in SRC, such as "
                "'images/{key}'.",
            )
        if clean.endswith("/"):
            fail(what, text, len(text) - 1, "a folder. Append {key} for the images in it")
        if needs_key and names.count(KEY) != 1:
            count = "no {key}" if KEY not in names else "several {key}"
            raise UnusableInput(
                what,
                f" {text!r} has {count}. {{key}} stands once for the name of the image, such "
                f"as '{{label}}/{{key}}'.",
            )
        for field in template.fields:
            if field.spec and not (
                field.spec in (ALL, LETTERS) or re.fullmatch(r"[1-9]\d?", field.spec)
            ):
                spec = f"{{{field.name}:{field.spec}}}"
                reason = f"{spec} is no number of folders from 1 on, nor all, nor letters"
                fail(what, clean, field.at - 1, reason)
        _ = template._pattern
        return template

    @cached_property
    def names(self) -> frozenset[str]:
        """The fields that have a value."""
        return frozenset(field.name for field in self.fields) - {NOTHING}

    @cached_property
    def folder(self) -> str:
        """The folder that it names outright, "" for none."""
        first = self.parts[0] if self.parts and isinstance(self.parts[0], str) else ""
        return first.partition("*")[0].rpartition("/")[0].replace(_STAR, "*")

    @cached_property
    def is_open(self) -> bool:
        """Whether the extension is left open."""
        text = "".join(part if isinstance(part, str) else "\0" for part in self.shown)
        end = text.rpartition("/")[2].rpartition("\0")[2]
        return not {".", "*"}.intersection(end)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        names: set[str] = set()
        pattern = ""
        for number, part in enumerate(self.parts):
            if isinstance(part, str):
                pattern += self._globs(part, pattern == "")
            elif part.value is not None:
                continue
            elif part.name in names:
                pattern += f"(?P={part.name})"
            else:
                is_followed = any(part in self.shown for part in self.parts[number + 1 :])
                few = "" if is_followed else "?"
                one = f"[^/]+{few}"
                if part.spec == LETTERS:
                    one = r"[^\W\d_]+"
                elif part.name in (KEY, PATH) and self._begins_last(number):
                    one = f".+{few}"
                elif part.spec:
                    more = "*" if part.spec == ALL else f"{{{int(part.spec) - 1}}}"
                    one = f"[^/]+(?:/[^/]+){more}"
                named = part.name != NOTHING
                pattern += f"(?P<{part.name}>{one})" if named else one
                names |= {part.name} if named else set()
        return re.compile(pattern + (_EXTENSION if self.is_open else ""), re.DOTALL)

    def _begins_last(self, number: int) -> bool:
        """Return whether a part begins the last component."""
        before = self.parts[:number]
        texts = _texts(before)
        begins = texts.endswith("/") and isinstance(before[-1], str)
        is_first = not texts and all(part not in self.shown for part in before)
        return (begins or is_first) and "/" not in _texts(self.parts[number:])

    def _globs(self, text: str, is_first: bool) -> str:
        pattern, pieces = "", _GLOB.split(text)
        for number, piece in enumerate(pieces):
            if not piece.startswith("*"):
                pattern += re.escape(piece.replace(_STAR, "*"))
            elif piece == "*":
                pattern += "[^/]*"
            else:
                before = pieces[number - 1]
                after = pieces[number + 1]
                begins = before.endswith("/") or (not before and number == 1 and is_first)
                if piece != "**" or not begins or not after.startswith("/"):
                    at = self.text.find(piece)
                    fail(self.what, self.text, at, "** stands for whole folders, as in **/{key}")
                pattern += "(?:[^/]+/)*"
                pieces[number + 1] = after[1:]
        return pattern

    def match(self, path: str) -> dict[str, str] | None:
        """Return the value of each field of a path; None if it does not fit."""
        if not self.is_leaf:
            found = self._pattern.fullmatch(path)
            return None if found is None else {**found.groupdict(), **self.constants}
        folder, _, name = path.rpartition("/")
        if (fields := self._in_folder(folder)) is None:
            return None
        return {**fields, KEY: fields[KEY] + (name.rpartition(".")[0] or name)}

    @cached_property
    def is_leaf(self) -> bool:
        """Whether all files of a folder fit, or none does: the last component is ``{key}``."""
        last = self.shown[-1]
        is_key = isinstance(last, Field) and last.name == KEY
        return is_key and self._begins_last(self.parts.index(last))

    @cached_property
    def has_any_depth(self) -> bool:
        """Whether a field has the names of all folders: ``{label:all}``."""
        return any(field.spec == ALL for field in self.fields)

    @cached_property
    def _in_folder(self) -> Callable[[str], dict[str, str] | None]:
        """Return the fields of the files in a folder, with the begin of their ``{key}``."""

        @lru_cache(1)
        def fields(folder: str) -> dict[str, str] | None:
            found = self._pattern.fullmatch(f"{folder}/x" if folder else "x")
            if found is None:
                return None
            return {**found.groupdict(), **self.constants, KEY: found[KEY][:-1]}

        return fields

    def check_fill(self, known: Collection[str]) -> None:
        """Raise if the `known` fields do not make one path of it."""
        for part in self.parts:
            if isinstance(part, Field):
                if part.name == NOTHING or part.value is not None or part.name not in known:
                    names = ", ".join(f"{{{name}}}" for name in sorted(known))
                    reason = f"{{{part.name}}} is not among the fields of ", option("images")
                    fail(self.what, self.text, part.at - 1, *reason, f": {names}")
            elif "*" in part:
                at = self.text.find("*")
                fail(self.what, self.text, at, "one path is meant, and * fits several")

    def fill(self, fields: Mapping[str, str]) -> str:
        """Return the path that these fields make, without an extension that is left open."""
        each = (p if isinstance(p, str) else fields[p.name] for p in self.parts)
        return "".join(each).replace(_STAR, "*")

    def rank(self, folder: str) -> tuple[tuple[str, ...], str, str]:
        """Return what sorts the folders of images as ImageFolder's classes are."""
        names = folder.split("/")
        fields = [field for field in self.fields if field.value is None]
        label = next((field for field in fields if field.name == "label"), None)
        until = label or next(field for field in fields if field.name == KEY)
        before = _texts(self.parts[: self.parts.index(until)]).count("/")
        levels = 1 if label is None or label.spec in ("", LETTERS) else label.spec
        depth = len(names) if levels == ALL else before + int(levels)
        return tuple(names[: before + 1]), "/".join(names[:depth]), folder


def _texts(parts: Iterable[str | Field]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


@dataclass(frozen=True)
class Member:
    """A file that belongs to an image: ``mask.png={label}/masks/{key}.png``."""

    name: str  # of the member; the file's extension follows where the name does not end in it
    template: Template
    is_optional: bool = False

    @classmethod
    def all_of(cls, members: Mapping[str, str], known: Collection[str]) -> Iterator["Member"]:
        """Parse the members of images that have the `known` fields."""
        for name, text in members.items():
            template = Template.of(text, Message(option("members"), f" {name}"), needs_key=False)
            template.check_fill(known)
            yield cls(name.replace("?", "", 1), template, "?" in name)

    def extension(self, ext: str) -> str:
        """Return the member's name for a file of that extension."""
        is_in = not ext or self.name == ext or self.name.endswith(f".{ext}")
        return self.name if is_in else f"{self.name}.{ext}"
