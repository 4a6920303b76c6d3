"""LMDB: a database of keys and values, in a folder (``data.mdb``) or in one file.

A value is an image, a pickle of one and its label, a `Datum` of Caffe, or a text that belongs to
the image of another key, as ``0001.txt`` to ``0001`` and ``label-0001`` to ``image-0001``.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import Any, NamedTuple

from packer.errors import BadImage
from packer.samples.records import Skipped
from packer.sources.containers.datum import datum
from packer.sources.containers.entries import Blob, Container, Entry, Window
from packer.sources.containers.lmdb_pages import DUPLICATES, Node, Pages
from packer.sources.containers.pickled import is_pickle, unpickled
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import inside

NAMES = re.compile(r"^data\.mdb$|(?<!^lock)\.(lmdb|mdb)$")
_DESCRIPTIONS = re.compile(
    rb"__\w+__|(num|n)[-_]?samples?|len(gth)?|size|keys|total|count|classes|meta(data)?",
    re.IGNORECASE,
)
_BESIDE = ("lock.mdb", "meta_info.txt")
_COUNT = b"num-samples"  # a database of words, https://github.com/meijieru/crnn.pytorch
_LOOKED_AT, _IMAGES = 4096, 8  # keys, and keys of images, that tell which keys belong together
_ENDS = ("txt", "json", "cls", "label", "caption", "class", "text")
_OF_IMAGES = ("image", "images", "img", "jpg", "data")
_OF_OTHERS = ("label", "labels", "text", "caption", "mask", "target", "class")


class Rule(NamedTuple):
    """The key of what belongs to an image: `new` in place of `old`, at the end or the beginning."""

    name: str  # of the field
    old: bytes
    new: bytes
    at_end: bool

    def of(self, key: bytes) -> bytes | None:
        """Return the key of what belongs to an image's key."""
        return _replaced(key, self.old, self.new, self.at_end)

    def image(self, key: bytes) -> bytes | None:
        """Return the key of the image that something belongs to."""
        return _replaced(key, self.new, self.old, self.at_end)


def _replaced(key: bytes, old: bytes, new: bytes, at_end: bool) -> bytes | None:
    if at_end:
        return key[: len(key) - len(old)] + new if key.endswith(old) else None
    return new + key[len(old) :] if key.startswith(old) else None


def _rules(key: bytes) -> Iterator[Rule]:
    """Yield the rules that an image's key may follow."""
    stem, dot, ext = key.rpartition(b".")
    ends = [b""] + [dot + ext] * bool(stem and len(ext) <= 4)
    for old, name, sign in product(ends, _ENDS, "._"):
        yield Rule(name, old, f"{sign}{name}".encode(), True)
    for word, name in product(_OF_IMAGES, _OF_OTHERS):
        old, new = word.encode(), name.encode()
        if key.startswith(old):
            yield Rule(name, old, new, False)
        if key.endswith(old):
            yield Rule(name, old, new, True)


@dataclass(frozen=True)
class LMDB(Container):
    """Databases of LMDB."""

    keyed = True

    @cached_property
    def aside(self) -> Mapping[str, str]:
        """The locks, and BasicSR's descriptions."""
        paths = [inside(file.rpartition("/")[0], name) for file in self.files for name in _BESIDE]
        paths += [f"{file}-lock" for file in self.files]
        reason = "it belongs to a database"
        return {path: reason for path in paths if (self.folder / path).is_file()}

    def entries(self, file: str) -> Iterator[Entry | Skipped]:
        """Yield each image with what other keys have of it."""
        with Window(self.folder, file) as window:
            try:
                pages = Pages.of(window)
                for name, root in pages.databases():
                    prefix = inside(self._prefix(file), name)
                    yield from _Database(file, window, pages, root, prefix).entries()
            except BadImage as error:
                yield Skipped(file, str(error), damaged=True)

    def _prefix(self, file: str) -> str:
        """Return what keys have in front where several files may have the same ones."""
        folder, _, name = file.rpartition("/")
        stem = "" if name == "data.mdb" else name.rpartition(".")[0]
        return inside(folder, stem).strip("/") if len(self.files) > 1 else ""


@dataclass(frozen=True)
class _Database:
    """One tree of keys and values."""

    file: str
    window: Window
    pages: Pages
    root: int
    prefix: str

    def entries(self) -> Iterator[Entry | Skipped]:
        rules = self._rules()
        has_classes = self._has_classes()
        for node in self.pages.nodes(self.root):
            if isinstance(node, BadImage):
                yield Skipped(self.file, str(node), damaged=True)
                continue
            where = f"{self.file}: key {_text(node.key)}"
            try:
                if any(self._is_image(rule.image(node.key)) for rule in rules):
                    continue  # it belongs to that image
                fields = self._fields(node)
                if not _has_image(fields):
                    if not _DESCRIPTIONS.fullmatch(node.key):
                        raise BadImage("its value is no image, and belongs to that of no other key")
                    reason = "it describes the database"
                    yield Skipped(where, reason, ignored=True)
                    continue
                if has_classes and "label" not in fields:
                    fields["label"] = _folder(node.key)
                for rule in rules:
                    if other := self._get(rule.of(node.key)):
                        fields |= _named(rule.name, self._fields(other))
            except BadImage as error:
                yield Skipped.of(where, error)
                continue
            name = inside(self.prefix, _text(node.key))
            yield Entry(where, name, fields, self.window.mtime_ns)

    def _rules(self) -> list[Rule]:
        """Return the rules by the first images."""
        found: dict[Rule, None] = {}
        count = 0
        for node in islice(self.pages.nodes(self.root), _LOOKED_AT):
            if isinstance(node, BadImage) or not self._is_image(node.key):
                continue
            found |= {rule: None for rule in _rules(node.key) if self._get(rule.of(node.key))}
            count += 1
            if count == _IMAGES:
                break
        if self._get(_COUNT):  # the labels are texts to be read, not classes
            return [rule._replace(name=rule.name.replace("label", "text")) for rule in found]
        return list(found)

    def _has_classes(self) -> bool:
        """Return whether images lie in several folders of one level, as keys have them."""
        nodes = self.pages.nodes(self.root)
        keys = (one.key for one in nodes if isinstance(one, Node) and self._is_image(one.key))
        try:
            folders = {_folder(key) for key in (next(keys, b""), self.pages.last(self.root))}
        except BadImage:
            return False
        return len(folders) == 2 and "" not in folders and not splits_of(sorted(folders))

    def _get(self, key: bytes | None) -> Node | None:
        return None if key is None else self.pages.get(self.root, key)

    def _is_image(self, key: bytes | None) -> bool:
        with suppress(BadImage):
            return (node := self._get(key)) is not None and _has_image(self._fields(node))
        return False

    def _fields(self, node: Node) -> dict[str, Any]:
        if node.flags & DUPLICATES:
            raise BadImage("the key has several values")
        blob = self.window.blob(node.begin, node.size)
        if blob.is_image:
            return {"image": blob}
        if is_pickle(blob.head):
            return _fields_of(unpickled(self.window, node.begin, node.size))
        if found := datum(self.window, node.begin, node.size):
            return found
        return {"value": self.window.value(node.begin, node.size)}


def _fields_of(value: Any) -> dict[str, Any]:
    """Return what a pickle holds: an image and its label, or fields with names."""
    if isinstance(value, dict):
        return {str(name): one for name, one in value.items()}
    parts: Sequence[Any] = value if isinstance(value, tuple | list) else [value]
    if len(parts) == 1:
        return {"value": parts[0]} if not _is_image(parts[0]) else {"image": parts[0]}
    images = [at for at, part in enumerate(parts) if _is_image(part)]
    labels = [at for at, part in enumerate(parts) if isinstance(part, int | str)]
    names = {at: f"value_{at}" for at in range(len(parts))}
    names |= {images[0]: "image"} if images else {}
    names |= {labels[0]: "label"} if len(labels) == 1 else {}
    return {names[at]: part for at, part in enumerate(parts)}


def _named(name: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Return what another key has of an image, by the name of the field."""
    value = next(iter(fields.values())) if len(fields) == 1 else fields
    if name == "json" and isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return value if name == "json" and isinstance(value, dict) else {name: value}


def _has_image(fields: Mapping[str, Any]) -> bool:
    return any(map(_is_image, fields.values()))


def _is_image(value: Any) -> bool:
    return isinstance(value, Blob) and value.is_image


def _folder(key: bytes) -> str:
    """Return the only folder of a key, "" for none or several."""
    folder, _, name = _text(key).partition("/")
    return folder if name and "/" not in name else ""


def _text(key: bytes) -> str:
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return key.hex()
    return text if text.isprintable() else key.hex()
