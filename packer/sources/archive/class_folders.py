"""What the folders of an archive mean: the rules of `folder.py`, told from their paths (pure)."""

from dataclasses import dataclass

from packer.sources.archive.entries import (
    Entries,
    Entry,
)
from packer.sources.folder.folder import SPLITS


@dataclass(frozen=True)
class Layout:
    """Splits and classes of an archive.

    Attributes:
        top: the folder that holds all others and says nothing; "" if there is none.
        folders: (split, class, folder) of each folder with samples, in ImageFolder's order; the
            class is "" where images have no labels.
        beside: the files that lie beside the folders of the splits and classes.
    """

    top: str
    folders: list[tuple[str, str, str]]
    beside: dict[str, Entry]

    @classmethod
    def of(cls, entries: Entries) -> "Layout":
        """The layout of an archive's folders."""
        paths = entries.folders()
        top = ""
        while child := _only_child(top, paths, entries):
            top = child
        inside = {path: path[len(top) :].strip("/") for path in paths if _lies_in(path, top)}
        firsts = {below.split("/")[0] for below in inside.values()} - {""}
        split_up = bool(firsts) and SPLITS.issuperset(firsts)
        places = []
        for path, below in inside.items():
            split, _, rest = below.partition("/") if split_up else ("", "", below)
            places.append((split, rest.split("/")[0], path))
        with_classes = {split for split, name, _ in places if name}
        outside = [path for path in paths if path not in inside]
        outside += [path for split, name, path in places if not name and split in with_classes]
        if split_up:
            outside += [path for path, below in inside.items() if not below]
        excluded = set(outside)
        return cls(
            top,
            sorted(place for place in places if place[2] not in excluded),
            {
                f"{path}/{name}" if path else name: entry
                for path in outside
                for name, entry in sorted(entries.files(path).items())
            },
        )

    @property
    def class_names(self) -> set[str]:
        """The names of the classes."""
        return {name for _, name, _ in self.folders if name}

    def below_top(self, folder: str) -> str:
        """What to put before the names of the files in `folder`."""
        below = folder[len(self.top) :].strip("/")
        return f"{below}/" if below else ""


def _lies_in(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def _only_child(top: str, paths: list[str], entries: Entries) -> str | None:
    """The folder in `top` that is to be looked through: it holds the others, and no images."""
    below = [path for path in paths if _lies_in(path, top) and path != top]
    children = {path[len(top) :].strip("/").split("/")[0] for path in below}
    if len(children) != 1 or not children.isdisjoint(SPLITS) or entries.has_images(top):
        return None
    child = f"{top}/{children.pop()}" if top else children.pop()
    only_holds = all(path == child for path in below)
    return None if only_holds or entries.has_images(child) else child
