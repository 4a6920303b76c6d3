"""What a person has said of a source: templates of images, members and lists; members' files."""

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from packer.layouts.templates.lines import ListTemplate
from packer.layouts.templates.template import Member, Template
from packer.options.declared import SourceOptions
from packer.tables.images import name_hash
from packer.words import listed, option


@dataclass(frozen=True)
class Templates:
    """What a person has said of a source, parsed."""

    images: tuple[Template, ...]
    members: tuple[Member, ...] = ()
    lists: tuple[ListTemplate, ...] = ()

    @classmethod
    def of(cls, options: SourceOptions) -> "Templates":
        """Parse the options; raise UnusableInput with the position of a fault."""
        images = tuple(Template.of(text, option("images")) for text in options.images or ("{key}",))
        known = frozenset.intersection(*(template.names for template in images))
        members = tuple(Member.all_of(options.members, known))
        return cls(images, members, tuple(map(ListTemplate.of, options.labels)))

    @property
    def top(self) -> str:
        """The folder that holds all images, as far as it is named outright."""
        return os.path.commonpath([template.folder for template in self.images])

    @property
    def folders(self) -> list[str]:
        """The folders that templates of images name outright, the source first."""
        return list(dict.fromkeys(["", *(template.folder for template in self.images)]))

    @property
    def what(self) -> str:
        """They are, for a person."""
        text = f"images at {listed([template.text for template in self.images])}"
        lists = [f"{one.file}" for one in self.lists]
        return f"{text}, with {listed(lists)}" if lists else text

    @cached_property
    def names(self) -> frozenset[str]:
        """The fields of all templates of images."""
        return frozenset().union(*(template.names for template in self.images))

    @property
    def has_values(self) -> bool:
        """Whether paths have classes or splits."""
        return bool(self.names & {"label", "class", "split"})

    @property
    def masks(self) -> list[str]:
        """The folders of members that are named outright."""
        return [member.template.folder for member in self.members if member.template.folder]

    def match(self, path: str) -> tuple[int, dict[str, str]] | None:
        """Return the number of the first template that fits a path, and the path's fields."""
        if path.startswith("../"):
            return None  # a member's
        for number, template in enumerate(self.images):
            if (fields := template.match(path)) is not None:
                return number, fields
        return None


class MemberFiles:
    """The files that may be a member: by the hashes of their paths, 9 bytes each."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self._hashes, self._kinds = array("Q"), array("B")
        self._extensions: dict[str, int] = {}

    def add(self, path: str) -> None:
        """Add a file if it may be one."""
        if self.member.template.match(path) is not None:
            stem, ext = self._divided(path)
            self._hashes.append(name_hash(stem))
            self._kinds.append(min(self._extensions.setdefault(ext, len(self._extensions)), 255))

    def _divided(self, path: str) -> tuple[str, str]:
        return os.path.splitext(path) if self.member.template.is_open else (path, "")

    def sort(self) -> None:
        """End adding."""
        order = np.argsort(np.array(self._hashes, np.uint64), kind="stable")
        self._hashes = array("Q", np.array(self._hashes, np.uint64)[order].tobytes())
        self._kinds = array("B", np.array(self._kinds, np.uint8)[order].tobytes())

    def of(self, fields: Mapping[str, str]) -> Iterator[str]:
        """Yield the files of an image with these fields."""
        path = self.member.template.fill(fields)
        value, extensions = name_hash(path), list(self._extensions)
        at = bisect_left(self._hashes, value)
        while at < len(self._hashes) and self._hashes[at] == value:
            yield path + extensions[self._kinds[at]]
            at += 1

    def has(self, path: str) -> bool:
        """Return whether a file was added."""
        value = name_hash(self._divided(path)[0])
        at = bisect_left(self._hashes, value)
        return at < len(self._hashes) and self._hashes[at] == value
