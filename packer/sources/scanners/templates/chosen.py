"""The templates of a source, for images, members and lists; and the files of members."""

import os
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from packer.options.declared import SourceOptions
from packer.sources.scanners.templates.lines import ListTemplate
from packer.sources.scanners.templates.template import PATH, Member, Template
from packer.sources.tables.images import HashIndex, name_hash
from packer.sources.trees.shape import is_within
from packer.words import listed, option


@dataclass(frozen=True)
class Templates:
    """The parsed templates of a source.

    Attributes:
        words: of pictures that are members, see `sidecars.members_named`; None: found by a scan.
        required: the members beside an image that it must have.
        empty: folders of splits without images, to be named.
        stray: why a file that no template matches is none.
        outright: the options that say the same; none where the caller has passed them, or no
            template can.
    """

    images: tuple[Template, ...]
    members: tuple[Member, ...] = ()
    lists: tuple[ListTemplate, ...] = ()
    words: frozenset[str] | None = None
    required: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    stray: str = "no template of --images matches it"
    outright: tuple[str, ...] = ()

    @classmethod
    def of(cls, options: SourceOptions) -> "Templates":
        """Parse the options; raise UnusableInput with the position of a fault."""
        images = tuple(Template.of(text, option("images")) for text in options.images or ("{key}",))
        known = frozenset.intersection(*(template.names for template in images)) | {PATH}
        members = tuple(Member.all_of(options.members, known))
        return cls(images, members, tuple(map(ListTemplate.of, options.labels)))

    @cached_property
    def top(self) -> str:
        """The folder of all images, as far as the templates have it without a field."""
        return os.path.commonpath([template.folder for template in self.images])

    @property
    def texts(self) -> list[str]:
        """The templates of images, as they are written."""
        return [template.text for template in self.images]

    @property
    def what(self) -> str:
        """They are, for a person."""
        text = f"images at {listed(self.texts)}"
        lists = [f"{one.file}" for one in self.lists]
        return f"{text}, with {listed(lists)}" if lists else text

    @cached_property
    def names(self) -> frozenset[str]:
        """The fields of all templates of images."""
        return frozenset().union(*(template.names for template in self.images))

    @cached_property
    def masks(self) -> list[str]:
        """The folders of members that are named outright, and hold no images."""
        folders = (member.template.folder for member in self.members)
        images = [template.folder for template in self.images]
        return [one for one in folders if one and not any(is_within(f, one) for f in images)]

    def match(self, path: str) -> tuple[int, dict[str, str]] | None:
        """Return the number of the first template that fits a path, and the path's fields."""
        if path.startswith("../"):
            return None  # a member's
        for number, template in enumerate(self.images):
            if (fields := template.match(path)) is not None:
                if self.members:
                    fields.setdefault(PATH, os.path.splitext(path)[0][len(self.top) :].lstrip("/"))
                return number, fields
        return None

    def defaults(self, path: str) -> Mapping[str, str]:
        """Return the values that an image has unless a list has others."""
        if not any(template.defaults for template in self.images):
            return {}
        return next(one.defaults for one in self.images if one.match(path) is not None)


class MemberFiles:
    """The files that may be a member: by the hashes of their paths, 9 bytes each."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self._found = array("Q"), array("B")  # hashes of paths, and which extension each has
        self._extensions: dict[str, int] = {}

    def add(self, path: str) -> None:
        """Add a file if it may be one."""
        if self.member.template.match(path) is not None:
            stem, ext = self._divided(path)
            self._found[0].append(name_hash(stem))
            number = self._extensions.setdefault(ext, len(self._extensions))
            self._found[1].append(min(number, 255))

    def _divided(self, path: str) -> tuple[str, str]:
        return os.path.splitext(path) if self.member.template.is_open else (path, "")

    @cached_property
    def _index(self) -> HashIndex:
        return HashIndex(*self._found)  # once all have been added

    def of(self, fields: Mapping[str, str]) -> Iterator[str]:
        """Yield the files of an image with these fields."""
        path, extensions = self.member.template.fill(fields), list(self._extensions)
        yield from (path + extensions[at] for at in self._index.numbers(name_hash(path)))

    def has(self, path: str) -> bool:
        """Return whether a file was added."""
        return name_hash(self._divided(path)[0]) in self._index
