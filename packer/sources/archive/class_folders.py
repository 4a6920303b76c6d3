"""What the folders of an archive mean: the rules of `folder/layout.py` (pure)."""

from dataclasses import dataclass

from packer.sources.archive.entries import Entries, Entry
from packer.sources.folder.layout import FLAT, Layout
from packer.sources.folder.shape import Shape, enclosing, inside


def shape_of(entries: Entries) -> Shape:
    """How many images each folder of an archive holds itself."""
    images = {folder: entries.images(folder) for folder in entries.folders()}
    for folder in list(images):
        while folder:
            folder = folder.rpartition("/")[0]
            images.setdefault(folder, 0)
    return Shape({"": 0} | images)


@dataclass(frozen=True)
class Places:
    """Where the samples of an archive lie.

    Attributes:
        folders: (split, class, folder) of each folder with samples, in ImageFolder's order; the
            class is "" where images have no labels.
        beside: the files that lie beside the folders of the splits and classes.
    """

    folders: list[tuple[str, str, str]]
    beside: dict[str, Entry]

    @classmethod
    def of(cls, entries: Entries, layout: Layout) -> "Places":
        """The places that a layout tells."""
        paths = entries.folders()
        aside = {inside(layout.top, folder) for folder in layout.aside}
        bases, below_base = set(layout.bases), dict[str, list[str]]()
        for path in paths:
            base = enclosing(path, bases)
            if base is not None and enclosing(path, aside) is None:
                below_base.setdefault(base, []).append(path)
        places: list[tuple[str, str, str]] = []
        for split, below in sorted(layout.splits.items(), key=lambda item: item[1]):
            base = inside(layout.top, below)
            found = {path: path[len(base) :].strip("/") for path in below_base.get(base, ())}
            flat = layout.depth == FLAT or not any(found.values())
            for path, rest in found.items():
                name = "" if flat else layout.class_of(rest)
                if name or flat:
                    places.append((split, name or "", path))
        known = {path for _, _, path in places}
        places.sort(key=lambda place: (layout.splits[place[0]], place[1:]))
        return cls(
            places,
            {
                inside(path, name): entry
                for path in paths
                if path not in known
                for name, entry in sorted(entries.files(path).items())
            },
        )
