"""CelebA: ``img_align_celeba`` beside lists of forty attributes, identities and splits.

As https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html has it, or with CSV lists, as
https://www.kaggle.com/datasets/jessicali9530/celeba-dataset has it. There are no classes:
attributes (1 or 0 by name) and the identity become ``json``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packer.errors import BadImage
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row, table_of
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_FOLDERS = ("img_align_celeba/img_align_celeba", "img_align_celeba")
_IDENTITIES = "identity_CelebA.txt"
_SPLITS = {"0": "train", "1": "val", "2": "test"}
_NOT_PACKED = "what it tells of an image is not packed"


def recognise(place: Place) -> Reading | None:
    """The lists of attributes and of the partition, both as text or as CSV."""
    tree = place.tree
    if not tree or not (folder := next((f for f in _FOLDERS if tree.level(f).images), "")):
        return None
    ext = next((ext for ext in (".txt", ".csv") if tree.has(f"list_attr_celeba{ext}")), "")
    attributes, partition = f"list_attr_celeba{ext}", f"list_eval_partition{ext}"
    if not ext or not tree.has(partition):
        return None
    separator = "," if ext == ".csv" else None
    others = ("list_bbox_celeba", "list_landmarks_celeba", "list_landmarks_align_celeba")
    ignored = {f"{name}{ext}": _NOT_PACKED for name in others}

    def lists() -> Lists:
        head = (line for line in tree.lines(attributes) if not line.isdecimal())
        columns = tuple(name for name in next(head, "").split(separator) if name != "image_id")
        sources = (attributes, partition, *filter(tree.has, [_IDENTITIES]))
        return _Faces((), sources, ignored, folder, columns, separator)

    return by_lists(tree, "CelebA with its lists", lists)


@dataclass(frozen=True)
class _Faces(Lists):
    """The lists.

    Attributes:
        folder: of the images.
        names: of the attributes.
        separator: between the fields of a line.
    """

    folder: str = ""
    names: Sequence[str] = ()
    separator: str | None = None

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The images in the order of the attributes' list."""
        attributes, partition, *identities = self.sources
        split_of = table_of(tree, partition, self.separator)
        identity = table_of(tree, identities[0]) if identities else {}
        for line in tree.lines(attributes):
            name, *values = line.split(self.separator)
            if not values or name == "image_id" or values == list(self.names[1:]):
                continue  # how many there are, and the names
            split = _SPLITS.get(split_of.get(name, ""))
            if split is None:
                yield Skipped(f"{self.folder}/{name}", f"{partition} has no split for it")
            else:
                note = " ".join([identity.get(name, "-"), *values])
                yield Row(f"{self.folder}/{name}", None, split, note=note)

    def members(self, note: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The attributes by name, and the identity."""
        identity, *values = note.split()
        if len(values) != len(self.names) or not {"1", "0", "-1"}.issuperset(values):
            raise BadImage(f"its line has no 1 or -1 for each of {len(self.names)} attributes")
        told: dict[str, object] = {
            "attributes": {n: int(v == "1") for n, v in zip(self.names, values, strict=True)}
        }
        if identity != "-":
            told["identity"] = int(identity) if identity.isdecimal() else identity
        return {"json": json.dumps(told).encode()}
