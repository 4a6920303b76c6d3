"""Globs that name files and folders of a source (pure)."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from packer.sources.trees.shape import folders_above

_PARTS = re.compile(r"(?:(?<=/)|^)\*\*/|(?:/|^)\*\*$|\*+|\?|\[!?[^\]/]+\]|.", re.DOTALL)


@dataclass(frozen=True)
class Globs:
    """Globs relative to a root; `folder` is where the paths that are asked for begin."""

    globs: tuple[str, ...]
    folder: str = ""

    def below(self, folder: str) -> "Globs":
        """Return the same for paths in a folder."""
        return Globs(self.globs, os.path.join(self.folder, folder))

    def hide(self, path: str) -> bool:
        """Return whether a file or folder, or a folder that holds it, matches a glob."""
        full = os.path.normpath(os.path.join(self.folder, path))
        return any(map(self._pattern.fullmatch, (full, *filter(None, folders_above(full)))))

    def visible(self, folder: str, names: Iterable[str]) -> Iterator[str]:
        """Yield the names in a folder that nothing hides."""
        return (name for name in names if not self.hide(os.path.join(folder, name)))

    def matching(self, path: str) -> dict[str, None]:
        """Return the globs that a path, or a folder that holds it, matches."""
        paths = [path.rstrip("/"), *filter(None, folders_above(path))]
        return {
            glob: None for glob in self.globs if any(re.fullmatch(_regex(glob), p) for p in paths)
        }

    @cached_property
    def _pattern(self) -> "re.Pattern[str]":
        return re.compile("|".join(map(_regex, self.globs)))


def _regex(glob: str) -> str:
    """Return the regular expression of a glob; ``x/**`` is the folder x, too."""
    return "(?s:" + "".join(map(_part, _PARTS.findall(glob.removesuffix("/")))) + ")"


def _part(text: str) -> str:
    if text == "**/":
        return "(?:.*/)?"
    if text == "/**":
        return "(?:/.*)?"
    if text == "**":
        return ".*"
    if text[0] == "*":
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if len(text) > 2 and text[0] == "[":
        inner = text[1:-1].replace("\\", "\\\\").replace("[", "\\[")
        return f"[^/{inner[1:]}]" if inner[0] == "!" else f"[{inner}]"
    return re.escape(text)
