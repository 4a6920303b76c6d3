"""The images that a table names: by their paths, or by names without folder or extension.

The first rows decide for all of them. Names and paths are looked up in lists of the folder's
images, made once for each depth of paths, of 12 bytes an image; nothing is tried out on the disk.
"""

import os
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
import xxhash

from packer.errors import BadImage, Damaged, Repeated
from packer.keys import Hashes, escape, repeated
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import is_named_as_image, names_an_image
from packer.words import option

NO_IMAGE = "no image has that name"


class Keys:
    """The keys of images whose names come in any order; 8 bytes a name are kept.

    ``x.jpg`` and ``x.png`` of one folder would both be ``x``, so they keep their extensions.
    """

    def __init__(self, stems: Hashes) -> None:
        self._shared = frozenset(repeated([stems]).tolist())
        self._seen: dict[str, str] = {}  # the names that share their stem -> their record

    @classmethod
    def among(cls, names: Iterable[str]) -> "Keys":
        """Return the keys of these names."""
        return cls(np.fromiter(map(stem_hash, names), np.uint64))

    def of(self, name: str, where: str = "") -> str:
        """Return the key of an image named by the record at `where`; raise if another named it."""
        if stem_hash(name) not in self._shared:
            return escape(os.path.splitext(name)[0])
        if name in self._seen:
            where = f" ({self._seen[name]})" if self._seen[name] else ""
            raise Repeated(f"an earlier record also names it{where}")
        self._seen[name] = where
        return escape(name)


def stem_hash(name: str) -> int:
    """Return the xxh3-64 of a name without its extension."""
    return name_hash(os.path.splitext(name)[0])


def name_hash(name: str) -> int:
    """Return the xxh3-64 of a name."""
    return xxhash.xxh3_64_intdigest(os.fsencode(name))


class HashIndex:
    """Numbers by the hashes of names; one name may have several, which come in their order."""

    def __init__(self, hashes: "array[int]", numbers: "array[int] | None" = None) -> None:
        """Take the hash that each of the numbers has; without `numbers`, these count from 0."""
        values = np.array(hashes, np.uint64)
        order = np.argsort(values, kind="stable")
        self._hashes = array("Q", values[order].tobytes())
        if numbers is None:
            self._numbers = array("q", order.astype(np.int64).tobytes())
        else:
            self._numbers = array(numbers.typecode, np.array(numbers)[order].tobytes())

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, value: int) -> bool:
        return next(self.numbers(value), None) is not None

    def numbers(self, value: int) -> Iterator[int]:
        """Yield the numbers of a hash."""
        at = bisect_left(self._hashes, value)
        while at < len(self._hashes) and self._hashes[at] == value:
            yield self._numbers[at]
            at += 1


def path_inside(root: Path, path: str) -> str:
    """`path`, absolute or relative to `root`, as a path relative to it."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise BadImage("its path is not text") from error
    if b"\0" in encoded:
        raise BadImage("its path holds a NUL byte")
    if os.path.isabs(path):
        folder, base = os.path.split(path)
        path = os.path.relpath(os.path.join(os.path.realpath(folder), base), root)
    path = os.path.normpath(path)
    if path.split(os.sep)[0] in (os.pardir, os.curdir):
        raise BadImage("its path leads out of the images' folder, which ", option("root"), " names")
    return path


class ImageIndex:
    """The images of a folder, found by the ends of their paths."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._last: tuple[str, list[str]] = ("", [])
        self._by_ends: dict[int, tuple[HashIndex, list[tuple[str, str]]]] = {}

    @cached_property
    def splits(self) -> Mapping[str, str]:
        """The split of each folder within one, by its path."""
        found: dict[str, str] = {}
        for path, level in self.tree.walk():
            own = found.get(path, "")
            named = {} if own else splits_of(self.tree.shape.with_images(path))
            for name in level.folders:
                if split := own or named.get(name, ""):
                    found[inside(path, name)] = split
        return found

    @cached_property
    def known_splits(self) -> frozenset[str]:
        """The splits that folders are named after."""
        return frozenset(self.splits.values())

    def split_of(self, path: str) -> str:
        """Return the split of an image's folder, "" for none."""
        return self.splits.get(os.path.dirname(path), "")

    def ending_with(self, value: str) -> list[str]:
        """The images whose paths end with `value`, or would with their extension behind it."""
        if self._last[0] == value:
            return self._last[1]  # rows of one image follow each other
        whole = is_named_as_image(value.rpartition("/")[2])
        found = self._named(os.path.splitext(value)[0] if whole else value, value.count("/"))
        if whole:
            found = [path for path in found if path.endswith(value)]
            found = found or self._alike(value)
        self._last = value, found
        return found

    def _alike(self, value: str) -> list[str]:
        """Return the images whose paths end with `value` but for case and the form of Unicode."""
        end = _folded(value)
        paths = self._folded_names.ending_with(end)
        return [path for path in paths if _folded(f"/{path}").endswith(f"/{end}")]

    @cached_property
    def _folded_names(self) -> "_FoldedNames":
        return _FoldedNames(self.tree)

    def below_another(self, value: str) -> list[str]:
        """Return the images whose whole paths are the end of `value`, which has another root."""
        names = os.path.splitext(value)[0].split("/")
        ends = ("/".join(names[at:]) for at in reversed(range(1, len(names))))
        found = (path for end in ends for path in self._named(end, self._deepest))
        return [path for path in found if value.endswith(f"/{path}")]

    def of_same_stem(self, value: str) -> list[str]:
        """Return the images of the same name, in any folder and with any extension."""
        stem = os.path.splitext(value.replace("\\", "/").rpartition("/")[2])[0]
        return self._named(stem, 0)

    def beside(self, path: str) -> list[str]:
        """Return the images in the folder of a file that have its name, but for the extension."""
        folder, name = os.path.split(path)
        return [
            one
            for one in self._named(os.path.splitext(name)[0], 0)
            if os.path.dirname(one) == folder
        ]

    def named_by(self, written: str, folder: str, split: str = "") -> str:
        """Return the image that a file in `folder` names; raise BadImage where it is not clear.

        Of several, one of the `split` is meant, or one below the folder.
        """
        tree, value = self.tree, written
        if "\\" in value and not tree.has(inside(folder, value)):
            value = value.replace("\\", "/")
        for base in (folder, ""):
            path = os.path.normpath(inside(base, value))
            if not path.startswith("../") and tree.has(path):
                return path_inside(tree.root, path)
        is_far = re.match(r"[\w+.-]+:|/", value) is not None
        if is_far:
            parts = urlsplit(value)
            value = unquote((parse_qs(parts.query).get("d") or [parts.path])[0])
        value = os.path.normpath(value).lstrip("/")
        found = self.ending_with(value) or self.below_another(value)
        if is_far and not found:
            name = value.rpartition("/")[2]
            found = self.ending_with(name) or self.ending_with(re.sub(r"^[0-9a-f]{8}-", "", name))
        found = [path for path in found if self.split_of(path) == split] or found
        return _one([path for path in found if path.startswith(f"{folder}/")] or found)

    def of_any_form(self, written: str, folder: str, split: str = "") -> str:
        """Return the image of `named_by`, else the only one of its name with another extension."""
        try:
            return self.named_by(written, folder, split)
        except Damaged:
            found = self.of_same_stem(written)
            found = [path for path in found if os.path.dirname(path) == folder] or found
            return _one([path for path in found if self.split_of(path) == split] or found)

    @cached_property
    def _deepest(self) -> int:
        """The most folders that an image lies in."""
        return max(len(Path(folder).parts) for folder, _ in self.tree.walk())

    def _named(self, end: str, depth: int) -> list[str]:
        """Return the images whose last `depth` folders and stem, or whole paths, are `end`.

        Each depth has an index: where all classes have images of the same names, a search for the
        name would go through all classes for each row of a list.
        """
        depth = min(depth, self._deepest)
        if depth not in self._by_ends:
            self._by_ends[depth] = self._listed(depth)
        kinds, known = self._by_ends[depth]
        stem = end.rpartition("/")[2]
        each = (known[number] for number in kinds.numbers(name_hash(end)))
        return [inside(folder, stem + ext) for folder, ext in each]

    def _listed(self, depth: int) -> tuple[HashIndex, list[tuple[str, str]]]:
        """Return the number of each image's folder and extension, as `_named` looks for them."""
        hashes, kinds = array("Q"), array("I")
        known: dict[tuple[str, str], int] = {}
        for folder, level in self.tree.walk():
            last = "/".join(folder.split("/")[-depth:]) if depth else ""
            for name in self.tree.names(folder) if level.images else ():
                if names_an_image(name):
                    stem, ext = os.path.splitext(name)
                    hashes.append(name_hash(inside(last, stem)))
                    kinds.append(known.setdefault((folder, ext), len(known)))
        return HashIndex(hashes, kinds), list(known)


class _FoldedNames:
    """The images of a tree by their names without case; in few bytes each, as they may be many."""

    def __init__(self, tree: Tree) -> None:
        names, below = array("Q"), array("Q")  # hashes of names, and with the folder's before them
        self._in, self._folders = array("I"), list[str]()
        self._text, self._bounds = bytearray(), array("Q", [0])
        for folder, level in tree.walk():
            for name in filter(names_an_image, tree.names(folder) if level.images else ()):
                folded = _folded(f"{os.path.basename(folder)}/{name}")
                names.append(name_hash(folded.rpartition("/")[2]))
                below.append(name_hash(folded))
                self._in.append(len(self._folders))
                self._text += os.fsencode(name)
                self._bounds.append(len(self._text))
            self._folders.append(folder)
        self._names, self._below = HashIndex(names), HashIndex(below)

    def ending_with(self, folded: str) -> Iterator[str]:
        """Yield the paths that may end so."""
        index = self._below if "/" in folded else self._names
        return map(self._path, index.numbers(name_hash("/".join(folded.rsplit("/", 2)[-2:]))))

    def _path(self, number: int) -> str:
        name = self._text[self._bounds[number] : self._bounds[number + 1]]
        return inside(self._folders[self._in[number]], os.fsdecode(bytes(name)))


@dataclass(frozen=True)
class ImageResolver:
    """The location of a table's images."""

    images: ImageIndex  # of the folder
    folder: str | None = ""  # which paths are relative to; None: they are looked up in `images`
    split: str = ""  # no image in another one's folder is meant if it has one; "" for any
    moved: bool = False  # whether the folders that paths begin with are others than here

    def name(self, value: str) -> str:
        """Return the path of the image that `value` names."""
        root = self.images.tree.root
        if self.folder is not None:
            usual = value.strip().replace("\\", "/")
            if usual != value and not self.images.tree.has(os.path.join(self.folder, value)):
                value = usual
            return path_inside(root, os.path.join(self.folder, value))
        return _one(self.candidates(value))

    def candidates(self, value: str) -> list[str]:
        """Return the images that `value` may name, where they are looked up."""
        if not value.isalnum():
            value = os.path.normpath(value.strip().replace("\\", "/"))
        images = self.images
        found = images.below_another(value) if self.moved else images.ending_with(value)
        if found and self.split in images.known_splits:
            own = [path for path in found if images.split_of(path) == self.split]
            found = own or [path for path in found if not images.split_of(path)]
        return found


@dataclass(frozen=True)
class Lookup:
    """How a column's first values were found to name images."""

    resolver: ImageResolver | None = None  # where they lie, None if nowhere
    share: float = 0.0  # of the values that name an image
    ambiguity: tuple[str, ...] = ()  # two images that one value may name
    moved: str = ""  # a value that would name an image if its folders were cut off


def look_up(
    images: ImageIndex,
    values: Sequence[str],
    folders: Sequence[str],  # that the values may be relative to
    split: str = "",
    *,
    root_is_given: bool = False,  # whether a person has said where the images are
    as_paths: bool = False,  # whether they can be nothing else
) -> Lookup:
    """Locate the images of these values, the first of a column."""
    for folder in folders:
        resolver = ImageResolver(images, folder)
        if hits := sum(_is_there(resolver, value) for value in values):
            return Lookup(resolver, hits / len(values))
    for moved in () if as_paths else (False, True):
        resolver = ImageResolver(images, None, split, moved)
        each = [(value, resolver.candidates(value)) for value in values]
        if not (hits := sum(bool(found) for _, found in each)):
            continue
        others = [value for value, found in each if found and not _from_root(images, value, found)]
        if moved and others and not root_is_given:
            return Lookup(moved=others[0])
        ambiguity = next((tuple(found[:2]) for _, found in each if len(found) > 1), ())
        return Lookup(resolver, hits / len(values), ambiguity)
    return Lookup()


def _from_root(images: ImageIndex, value: str, found: Sequence[str]) -> bool:
    """Whether a path begins with the name of the images' folder, or with ``..`` only."""
    above = os.path.normpath(value.strip().replace("\\", "/")).removesuffix(f"/{found[0]}")
    return os.path.basename(above) in (os.pardir, images.tree.root.name)


def _is_there(resolver: ImageResolver, value: str) -> bool:
    try:
        return resolver.images.tree.has(resolver.name(value))
    except (BadImage, ValueError):
        return False


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _one(found: Sequence[str]) -> str:
    if not found:
        raise Damaged(NO_IMAGE)
    if len(found) > 1:
        raise BadImage(f"it may be {found[0]} or {found[1]}")
    return found[0]
