"""Files in folders that fit one template, whose names begin, and end, alike (pure)."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from packer.sources.trees.outright import literal
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.sources.trees.walk import is_named_as_image

OWN = "\0"  # in a name: the split of its folder
OTHER = "\1"  # another word for it: 1_training in train
MOST = 12  # parts of a sample
NEARLY = 0.8  # of the names in a folder are those in another
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class File(NamedTuple):
    """A file, with the values of the fields in the path of its folder."""

    values: tuple[str, ...]
    stem: str
    path: str


@dataclass
class Group:
    """Files in folders that fit one template, whose names begin, and end, alike."""

    folder: str  # a template
    fields: tuple[str, ...]
    ext: str  # of all that are no images, and of images whose names end alike; "" for any
    files: list[File] = field(default_factory=list)
    before: str = ""
    behind: str = ""
    between: str = ""  # a word within their names

    @cached_property
    def keys(self) -> dict[tuple[tuple[str, ...], str], File]:
        """The files by the values of their fields and what is left of their names."""
        start, end = len(self.before), len(self.behind)
        return {
            (
                one.values,
                one.stem[start : len(one.stem) - end].replace(self.between or OWN, OWN, 1),
            ): one
            for one in self.files
        }

    @cached_property
    def is_image(self) -> bool:
        """Whether its files are named as images are."""
        return is_named_as_image(self.files[0].path)

    def template(self, key: str = "{key}") -> str:
        """Return the template of its files."""
        end = f".{self.ext}" * bool(self.ext)
        part = f"{{part}}{literal(self.between)}" * bool(self.between)
        name = f"{part}{literal(self.before)}{key}{literal(self.behind)}{end}"
        name = name.replace(OWN, "{split}").replace(OTHER, "{_}")
        return f"{self.folder}/{name}" if self.folder else name

    @cached_property
    def _words(self) -> list[str]:
        path = f"{self.folder}/{self.behind}"
        words = [plain(name) for name in (*path.split("/"), *re.split(r"[/_. -]", path))]
        return words + [word.lower() for word in WORDS.findall(path)]

    @cached_property
    def are_masks(self) -> bool:
        """Whether its files are named as the masks of others are."""
        return any(map(may_be_masks, self._words))

    @property
    def rank(self) -> tuple[bool, bool, bool, int, bool, str]:
        """Sort what are called images, and most, before what may be masks of these.

        Of parts beside each other, a TIFF may be the depth.
        """
        is_named = not IMAGES.isdisjoint(self._words)
        is_part = self.are_masks or bool(self.behind.replace(f"_{OWN}", "") or self.before)
        is_tiff = is_part and self.ext.lower() in ("tif", "tiff")
        return not self.is_image, is_part, not is_named, -len(self.files), is_tiff, self.folder
