"""The images that ``--images`` names, with ``--member`` and ``--labels``, as a source.

It goes through the folders twice: for classes, splits and the images of lists, then for samples.
The order, names and keys of the samples are those of `folders` for the same files.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from packer.errors import BadImage, Lacking
from packer.keys import clashing
from packer.layouts.arrays.one_each import is_array, is_in_picture
from packer.layouts.folders.source import words_of
from packer.layouts.templates.chosen import MemberFiles, Templates
from packer.layouts.templates.joined import Joined
from packer.layouts.templates.lists import read_lists
from packer.layouts.templates.template import KEY
from packer.options.kinds import SPLIT_NAME
from packer.samples.labels import class_order, to_json
from packer.samples.records import EmptyClass, Facts, Reader, Sample, Skipped
from packer.tables.classes import Labels, label_text
from packer.tables.images import HashIndex, name_hash
from packer.trees.names import splits_of
from packer.trees.sample import sample_of_files
from packer.trees.shape import inside, is_within
from packer.trees.sidecars import group
from packer.trees.tree import Tree
from packer.trees.walk import names_an_image, not_entered
from reader.format.members import PICTURES

_ROLES = frozenset({"split", "label", "class", KEY})
_NO_TEMPLATE = "no template of --images matches it"
_NO_IMAGE = "no image has it as a member"


class TemplateSource:
    """The images that templates name."""

    def __init__(
        self, tree: Tree, templates: Templates, classes: Sequence[str] | None = None
    ) -> None:
        """Read the lists, and find members, classes and splits by passes over the folders."""
        self._tree, self.templates = tree, templates
        self._words = words_of(tree, templates.masks)  # of members, see `sidecars.members_named`
        self._kinds = {*PICTURES, *(["npy"] if any(map(is_array, templates.texts)) else [])}
        self._members = tuple(map(MemberFiles, templates.members))
        self._folders: Sequence[str] = ()  # that hold files; those of images in ImageFolder's order
        self._taken = HashIndex(array("Q"))  # the files of members
        self._joined: Joined | None = None
        labels: dict[str, None] = {}  # the different classes and splits in paths
        splits: dict[str, None] = {}

        def add(images: Iterable[tuple[str, Mapping[str, str]]]) -> None:
            for _, fields in images if templates.has_values else ():
                labels[fields.get("class", fields.get("label", ""))] = None
                splits[fields.get("split", "")] = None

        ranks: dict[str, Any] = {}
        for folder, names in self._below():
            for path in (inside(folder, name) for name in names):
                for files in self._members:
                    files.add(path)
                if folder not in ranks and (found := templates.match(path)):
                    ranks[folder] = templates.images[found[0]].rank(folder)
            if folder not in ranks:
                ranks[folder] = (), "", folder
            if not self._members:
                add(self._candidates(folder, names))
        self._folders = sorted(ranks, key=ranks.__getitem__)
        if self._members:
            self._taken = HashIndex(array("Q", self._hashes_of_members()))
            add(self._images() if templates.has_values else ())
        if templates.lists:
            rows = read_lists(tree, templates.lists)
            self._joined = Joined(tree, rows, templates.names, templates.folders)
            self._joined.bind(self._images, self._fields)
            splits.update(dict.fromkeys(map(str, self._joined.values("split"))))
        usual = splits_of(sorted(splits))
        is_clear = len(set(usual.values())) == len(usual)
        self._splits: Mapping[str, str] = usual if is_clear else {}  # value -> the usual name
        self._labels = self._classes(set(labels), classes)

    def _classes(self, of_paths: set[str], classes: Sequence[str] | None) -> Labels:
        """Return the classes: those of paths sorted, ``{class}`` in the order of its list."""
        where, joined = self._tree.root, self._joined
        listed = joined.names - self.templates.names if joined else frozenset()
        if joined and "class" in listed:
            order = tuple(dict.fromkeys(map(label_text, joined.values("class"))))
            return Labels(class_order(where, order, classes) if classes else order, named=True)
        if joined and "label" in listed:
            texts = [*dict.fromkeys(map(label_text, joined.values("label")))]
            return Labels.of(texts, classes, where).numbered(texts)
        return Labels(class_order(where, of_paths - {""}, classes), named=True)

    def _below(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each folder with the names of its files; members may be in other folders."""
        tops = {files.member.template.folder for files in self._members}
        for top in ("", *sorted(top for top in tops if top.startswith("../"))):
            for folder, _ in self._tree.walk(top):
                yield folder, self._tree.readable_names(folder) or []

    def _fields(self, path: str) -> dict[str, str] | None:
        found = self.templates.match(path)
        return found and found[1]

    def _candidates(
        self, folder: str, names: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the path and the fields of what may be an image in a folder."""
        for name in group(names, self._words, self._kinds).samples:
            path = inside(folder, name)
            fields = self._fields(path)
            if fields is not None and (names_an_image(name) or self._ignored(path) is None):
                yield path, fields

    def _ignored(self, path: str) -> Skipped | None:
        """Return what to report of a file that is not meant as an image; an array is, if named."""
        found = self.templates.match(path) if is_array(path) else None
        is_named = found is not None and is_array(self.templates.texts[found[0]])
        return None if is_named else self._tree.ignored(path)

    def _images(self) -> Iterator[tuple[str, dict[str, str]]]:
        for folder in self._folders:
            names = self._tree.readable_names(folder) or []
            for path, fields in self._candidates(folder, names):
                if not self._is_taken(path):
                    yield path, fields

    def _hashes_of_members(self) -> Iterator[int]:
        for path, fields in self._images():
            for files in self._members:
                yield from (name_hash(file) for file in files.of(fields) if file != path)

    def _is_taken(self, path: str) -> bool:
        return len(self._taken) > 0 and name_hash(path) in self._taken

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order."""
        return self._labels.classes

    @property
    def facts(self) -> Facts:
        """How its lists were read."""
        root = None if self._tree.unpack else self.tree.root
        return Facts(remarks=self._joined.remarks if self._joined else (), root=root)

    @property
    def files(self) -> Reader:
        """The reader of the samples."""
        return self.tree.files

    @cached_property
    def tree(self) -> Tree:
        """The tree of the folder that names and keys begin in."""
        return self._tree.below(self.templates.top)

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the images in ImageFolder's order, and all other files."""
        used: set[int] = set()
        for record in self._scan():
            if isinstance(record, Sample):
                used.add(record.label)
            yield record
        yield from self._joined.skipped if self._joined else ()
        for number, name in enumerate(self.classes if "label" in self.templates.names else ()):
            if number not in used:
                reason = "it is a class of which all images are rejected"
                yield EmptyClass(f"{name}/", reason, class_name=name)

    def _scan(self) -> Iterator[Sample | Skipped]:
        lists = self._joined.files if self._joined else frozenset()
        for folder in self._folders:
            for name, reason in self._tree.level(folder).skipped.items():
                yield self._named(not_entered(inside(folder, name), reason))
            if (names := self._tree.readable_names(folder)) is None:
                yield self._named(Skipped(folder, "the folder cannot be read", damaged=True))
                continue
            yield from map(self._named, self._tree.repeated(folder))
            grouping = group(names, self._words, self._kinds)
            for name, reason in grouping.refused.items():
                yield self._named(Skipped(inside(folder, name), reason))
            fields = {name: self._fields(inside(folder, name)) for name in grouping.samples}
            whole = clashing(name for name, found in fields.items() if found is not None)
            for name, sidecars in grouping.samples.items():
                path = inside(folder, name)
                files = {ext: inside(folder, file) for ext, file in sidecars.items()}
                if path in lists or self._is_taken(path):
                    continue
                if no_image := self._ignored(path):
                    yield self._named(no_image)
                elif (found := fields[name]) is not None:
                    yield from self._sample(path, found, files, name in whole)
                else:
                    is_member = any(one.has(path) for one in self._members)
                    error = BadImage(_NO_IMAGE if is_member else _NO_TEMPLATE)
                    yield from self._rejected(path, error, files)

    def _sample(
        self, path: str, of_path: Mapping[str, str], sidecars: Mapping[str, str], is_whole: bool
    ) -> Iterator[Sample | Skipped]:
        try:
            fields = self._joined.fields_of(path, of_path) if self._joined else of_path
            members = dict(self._members_of(path, of_path))
            label, split = self._label(fields), self._split(fields)
            more = {name: value for name, value in fields.items() if name not in _ROLES}
            if more and "json" in {*members, *sidecars}:
                raise BadImage(f"its json is a file, and {', '.join(more)} go into the json, too")
        except BadImage as error:
            further = {f: f for one in self._members for f in one.of(of_path) if f != path}
            yield from self._rejected(path, error, {**sidecars, **further})
            return
        for ext, file in sidecars.items():
            if members.setdefault(ext, file) != file:
                reason = f"{members[ext]!r} takes its place as .{ext}"
                yield self._named(Skipped(file, reason))
        if is_array(path) and not is_in_picture(self._tree, path):
            members.setdefault("npy", path)
        files = {ext: self._relative(file) for ext, file in members.items()}
        top, name = self.tree, self._relative(path)
        newest = self._joined.newest_ns if self._joined else 0
        how: Any = {"label": label, "split": split, "keep_extension": is_whole}
        json = (to_json(more), newest) if more else None
        yield from sample_of_files(top, name, files, json=json, **how)

    def _members_of(self, path: str, fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for files in self._members:
            found = [file for file in files.of(fields) if file != path]
            if not found and not files.member.is_optional:
                wanted = files.member.template.fill(fields)
                name = files.member.name
                raise Lacking(f"it has no {name}: there is no {wanted}", name)
            for file in found:
                yield files.member.extension(os.path.splitext(file)[1][1:].lower()), file

    def _label(self, fields: Mapping[str, Any]) -> int:
        text = label_text(fields.get("class", fields.get("label", "")))
        try:
            return self._labels.number_of(text) if text else -1
        except (KeyError, ValueError):
            raise BadImage(f"its class, {text!r}, is not in the list of classes") from None

    def _split(self, fields: Mapping[str, Any]) -> str:
        split = str(fields.get("split", ""))
        split = self._splits.get(split, split)
        if split and not SPLIT_NAME.fullmatch(split):
            raise BadImage(f"its split, {split!r}, is no name of letters, digits, _ and -")
        return split

    def _rejected(self, path: str, error: BadImage, files: Mapping[str, str]) -> Iterator[Skipped]:
        of_image = replace(Skipped.of(path, error), damaged=False)
        yield self._named(of_image)
        for file in dict.fromkeys(files.values()):
            reason = f"its image is rejected: {error}"
            yield self._named(replace(of_image, name=file, reason=reason))

    def _relative(self, path: str) -> str:
        top = self.templates.top
        if is_within(path, top):
            return path[len(top) :].lstrip("/")
        return os.path.relpath(path, top)

    def _named(self, item: Skipped) -> Skipped:
        name = item.name.rstrip("/")
        slash = item.name[len(name) :]
        return replace(item, name=self._relative(name) + slash) if self.templates.top else item
