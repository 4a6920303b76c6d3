"""Oxford-IIIT Pet: ``images`` beside ``annotations`` with the official lists, trimaps and heads.

As https://www.robots.ox.ac.uk/~vgg/data/pets/ has it. The breed is the class; a trimap becomes the
member ``mask.png``, the box of the head, which some have, the member ``xml``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row, records
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_LISTS = {"trainval": "annotations/trainval.txt", "test": "annotations/test.txt"}


def recognise(place: Place) -> Reading | None:
    """``annotations/trainval.txt``, ``annotations/test.txt`` and trimaps, beside ``images``."""
    tree = place.tree
    if not tree or not all(map(tree.has, _LISTS.values())):
        return None
    if not tree.level("images").images or not tree.level("annotations/trimaps").images:
        return None

    def lists() -> Lists:
        classes = {}
        for path in _LISTS.values():
            for record in records(tree, path, 4):
                if not isinstance(record, Skipped):
                    classes[record[1].zfill(9)] = _breed(record[0])
        strays = tree.level("images").examples.get(".mat", ())
        ignored = {f"images/{name}": "it is not part of the official lists" for name in strays}
        order = tuple(classes[number] for number in sorted(classes))
        return _OxfordPet(
            order, tuple(_LISTS.values()), ignored, unlisted="the official lists leave it out"
        )

    return by_lists(tree, "Oxford-IIIT Pet with its official lists", lists)


def _breed(name: str) -> str:
    return name.rpartition("_")[0]


@dataclass(frozen=True)
class _OxfordPet(Lists):
    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """Trainval, then test, each with its trimap."""
        heads = tree.level("annotations/xmls").counts
        for split, path in _LISTS.items():
            for record in records(tree, path, 4):
                if isinstance(record, Skipped):
                    yield record
                    continue
                name, xml = record[0], f"annotations/xmls/{record[0]}.xml"
                files = {"mask.png": f"annotations/trimaps/{name}.png"}
                if heads and tree.has(xml):
                    files["xml"] = xml
                yield Row(f"images/{name}.jpg", _breed(name), split, files)
