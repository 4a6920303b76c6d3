"""The images that ``--images`` names, with ``--member`` and ``--labels``, as a source.

All folders of images are such, their templates are given by their `folders.reading`. The order of
samples is that of torchvision's ImageFolder: the sorted names of the classes are numbered, and
nested folders below a class belong to it. Unlike in ImageFolder, a file counts by its content and
not by its extension, so every file is either packed or named.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from packer.errors import BadImage, Lacking
from packer.keys import clashing
from packer.options.kinds import SPLIT_NAME
from packer.samples.labels import class_order, to_json
from packer.samples.records import Facts, Reader, Sample, Skipped
from packer.sources.scanners.arrays.one_each import is_array, is_in_picture
from packer.sources.scanners.templates.chosen import Templates
from packer.sources.scanners.templates.survey import Survey
from packer.sources.scanners.templates.template import KEY
from packer.sources.tables.classes import Labels, label_text
from packer.sources.tables.splits import NUMBERED
from packer.sources.trees.sample import sample_of_files
from packer.sources.trees.shape import inside, is_within
from packer.sources.trees.sidecars import SHARED, group
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import is_file_error, not_entered, skipped
from packer.words import Message, option

_NUMBER = "class_number"  # of a list: the number of one of the classes that paths have
_ROLES = frozenset({"split", "label", "class", KEY, _NUMBER})
_NO_IMAGE = "the source has no image of this path"
_NO_IMAGES = "it is a class folder without images"
_ALL_REJECTED = "it is a class folder whose images are all rejected"
_EMPTY_SPLIT = "it is the folder of a split and holds no images"
_CLASS_NAMES = "classes.txt"  # LabelImg and others write it beside their label files


class TemplateSource:
    """The images that templates name.

    Attributes:
        tree: of the folder that names and keys begin in.
    """

    def __init__(
        self,
        tree: Tree,
        templates: Templates,
        classes: Sequence[str] | None = None,
        found: Survey | None = None,
    ) -> None:
        """`classes` are the names of the classes in label order, `found` is an earlier survey."""
        self._tree, self.templates = tree, templates
        self._found = found = found or Survey(tree, templates)
        self._joined = joined = found.joined
        self.tree = self._tree.below(self.templates.top)
        self.files: Reader = self.tree.files
        self._labels = self._classes(set(found.labels), classes)
        self.classes = self._labels.classes
        remarks = joined.remarks if joined else ()
        if found.usual is NUMBERED:
            remarks += ("Its splits 0, 1 and 2 are read as train, val and test.",)
        root = None if tree.unpack else self.tree.root
        self.facts = Facts(remarks, self._without_labels, root=root, outright=templates.outright)
        self._last: tuple[Mapping[str, Any], tuple[int, str]] = {}, (-1, "")
        self._unreadable: set[str] = set()  # folders, which a scan finds
        names = joined.names if joined else self.templates.names
        self._further = names - _ROLES  # fields that go into the json

    def _without_labels(self) -> Iterator[str]:
        """Yield a sentence where lists have fields that could be the label."""
        listed = sorted(self._joined.names - self.templates.names) if self._joined else []
        if listed and not self.classes:
            one = " If one of them is the label, call it {label} in "
            text = f"No sample has a label: the fields {', '.join(listed)} are in the json."
            yield Message(text, one, option("labels"), ".")

    def in_order(self, classes: Sequence[str] | None) -> "TemplateSource":
        """Return the same with its classes in another order."""
        return TemplateSource(self._tree, self.templates, classes, self._found)

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

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the images in ImageFolder's order, and all other files."""
        used: set[int] = set()
        for record in self._scan():
            if isinstance(record, Sample):
                used.add(record.label)
            yield record
        yield from self._joined.skipped if self._joined else ()
        for folder in self.templates.empty:
            yield self._named(Skipped(f"{folder}/", _EMPTY_SPLIT, ignored=True))
        of_paths = self._found.labels
        for number, name in enumerate(self.classes if "label" in self.templates.names else ()):
            if number not in used and (name in of_paths or self._joined):
                if (folder := of_paths.get(name, name)) in self._unreadable:
                    continue
                reason = _ALL_REJECTED if self._tree.shape.below(folder) else _NO_IMAGES
                yield self._named(Skipped(f"{folder}/", reason, class_name=name))

    def _scan(self) -> Iterator[Sample | Skipped]:
        lists = self._joined.files if self._joined else frozenset()
        members = self._found.members
        for folder in self._found.folders:
            for name, reason in self._tree.level(folder).skipped.items():
                yield self._named(not_entered(inside(folder, name), reason))
            try:
                names = self._tree.names(folder)
            except OSError as error:
                if not is_file_error(error):
                    raise
                self._unreadable.add(folder)
                reason = f"the folder cannot be read: {error.strerror}"
                yield self._named(Skipped(folder, reason, damaged=True))
                continue
            yield from map(self._named, self._tree.repeated(folder))
            grouping = group(names, self._found.words, self._found.kinds)
            for name, reason in grouping.refused.items():
                yield self._named(Skipped(inside(folder, name), reason))
            fields = self._found.fields_in(folder, grouping.samples)
            whole = clashing(name for name, found in fields.items() if found is not None)
            for name, sidecars in grouping.samples.items():
                path = inside(folder, name)
                if path in lists:
                    continue
                files = sidecars and {ext: inside(folder, f) for ext, f in sidecars.items()}
                if members and (of := next((one for one in members if one.has(path)), None)):
                    if self._found.is_shared(path, of):
                        yield self._named(skipped(path, SHARED))
                        continue
                    if self._found.is_taken(path):
                        continue
                    if fields[name] is None:
                        yield from map(self._named, map(_unused, (path, *files.values())))
                        continue
                if no_image := self._found.ignored(path):
                    yield self._named(no_image)
                elif (found := fields[name]) is not None:
                    yield from self._sample(path, found, files, name in whole)
                else:
                    yield from self._rejected(path, BadImage(self.templates.stray), files.values())

    def _sample(
        self, path: str, of_path: Mapping[str, str], sidecars: Mapping[str, str], is_whole: bool
    ) -> Iterable[Sample | Skipped]:
        try:
            fields = self._joined.fields_of(path, of_path) if self._joined else of_path
            if defaults := self.templates.defaults(path):
                fields = {**defaults, **fields}
            members = dict(self._members_of(path, of_path)) if self._found.members else {}
            for name in self.templates.required:
                if not any(one.split(".")[0] == name for one in {*members, *sidecars}):
                    raise Lacking(f"it has no {name} beside it", member=name)
            label, split = self._values(fields)
            more = {n: fields[n] for n in fields if n in self._further} if self._further else {}
            if more and "json" in {*members, *sidecars}:
                raise BadImage(f"its json is a file, and {', '.join(more)} go into the json, too")
        except BadImage as error:
            further = [file for _, each in self._found.members_of(path, of_path) for file in each]
            return self._rejected(path, error, [*sidecars.values(), *further])
        replaced = [ext for ext, file in sidecars.items() if members.setdefault(ext, file) != file]
        if self._found.has_arrays and is_array(path) and not is_in_picture(self._tree, path):
            members.setdefault("npy", path)
        found = sample_of_files(
            self.tree,
            self._relative(path),
            {ext: self._relative(file) for ext, file in members.items()} if members else {},
            label=label,
            split=split,
            keep_extension=is_whole,
            json=(to_json(more), self._joined.newest_ns if self._joined else 0) if more else None,
        )
        reasons = {ext: f"{members[ext]!r} takes its place as .{ext}" for ext in replaced}
        others = [self._named(Skipped(sidecars[ext], why)) for ext, why in reasons.items()]
        return chain(others, found) if others else found

    def _members_of(self, path: str, fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for files, found in self._found.members_of(path, fields):
            member = files.member
            if not found and not member.is_optional:
                wanted = member.template.fill(fields)
                raise Lacking(f"it has no {member.name}: there is no {wanted}", member=member.name)
            for file in found:
                yield member.extension(os.path.splitext(file)[1][1:].lower()), file

    def _values(self, fields: Mapping[str, Any]) -> tuple[int, str]:
        """Return the class and the split of an image; all of a folder may have the same fields."""
        if fields is not self._last[0]:
            self._last = fields, (self._label(fields), self._split(fields))
        return self._last[1]

    def _label(self, fields: Mapping[str, Any]) -> int:
        text = label_text(fields.get("class", fields.get("label", "")))
        try:
            label = self._labels.number_of(text) if text else -1
        except (KeyError, ValueError):
            raise BadImage(f"its class, {text!r}, is not in the list of classes") from None
        number = label_text(fields.get(_NUMBER, ""))
        if not number:
            return label
        known = map(str, range(len(self.classes)) if label < 0 else [label])
        if number not in known:
            raise BadImage(f"its {_NUMBER} is {number}, which is not that of its class")
        return int(number)

    def _split(self, fields: Mapping[str, Any]) -> str:
        split = str(fields.get("split", ""))
        split = self._found.usual.get(split, split)
        if split and not SPLIT_NAME.fullmatch(split):
            raise BadImage(f"its split, {split!r}, is no name of letters, digits, _ and -")
        return split

    def _rejected(self, path: str, error: BadImage, files: Iterable[str]) -> Iterator[Skipped]:
        of_image = replace(Skipped.of(path, error), damaged=False)
        yield self._named(of_image)
        for file in dict.fromkeys(files):
            reason = f"its image is rejected: {error}"
            yield self._named(replace(of_image, name=file, reason=reason))

    def _relative(self, path: str) -> str:
        if not (top := self.templates.top):
            return path
        return path[len(top) + 1 :] if is_within(path, top) else os.path.relpath(path, top)

    def _named(self, item: Skipped) -> Skipped:
        name = item.name.rstrip("/")
        slash = item.name[len(name) :]
        return replace(item, name=self._relative(name) + slash) if self.templates.top else item


Opening = Callable[[Sequence[str] | None], TemplateSource]


def surveyed_once(opening: Opening) -> Opening:
    """Return what opens a source anew for each order of classes, without another survey."""
    opened: list[TemplateSource] = []

    def reopening(classes: Sequence[str] | None) -> TemplateSource:
        if opened:
            return opened[0].in_order(classes)
        opened.append(opening(classes))
        return opened[0]

    return reopening


def _unused(path: str) -> Skipped:
    """Return what may be a member, and belongs to no image."""
    if path.endswith(".cache"):  # ultralytics leaves train.cache beside its labels
        return Skipped(path, "it is another program's cache", ignored=True)
    if os.path.basename(path) == _CLASS_NAMES:
        return Skipped(path, "it lists the classes, and belongs to no image", ignored=True)
    return skipped(path, _NO_IMAGE)
