"""What lies in a folder of images and is named by none of its tables."""

import os
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field

from packer.keys import Hashes
from packer.samples.records import Skipped, SourceSample
from packer.tables.places import Images
from packer.trees.shape import inside
from packer.trees.tree import sample_of_files, unnamed
from packer.trees.walk import names_an_image

_OBJECTS_ALONE = "_annotations.csv"  # Roboflow's, which does not name images without objects


@dataclass(frozen=True)
class Unlisted:
    """The files of a folder that no table names.

    Attributes:
        images: of the folder.
        tables: that are read, relative to it.
        aside: further files -> why nothing is taken from them.
    """

    images: Images
    tables: frozenset[str]
    aside: Mapping[str, str] = field(default_factory=dict)

    def scan(self, known: Hashes, splits: Set[str]) -> Iterator[SourceSample | Skipped]:
        """The images of splits without a table are samples without labels; others are named.

        Args:
            known: hashes of the images that tables name, sorted.
            splits: those that have a table.
        """
        tree = self.images.tree
        for found in unnamed(tree, known, {}):
            if isinstance(found, Skipped):
                yield found
                continue
            folder, paths = found
            split = self.images.splits.get(folder, "")
            images = [path for path in paths if names_an_image(os.path.basename(path))]
            if (split and split not in splits) or inside(folder, _OBJECTS_ALONE) in self.tables:
                for path in images:
                    yield from sample_of_files(tree, path, {}, label=-1, split=split)
            elif images and len(images) == tree.level(folder).images:
                count = "image" if len(images) == 1 else f"{len(images)} images"
                yield Skipped(f"{folder}/", f"no table names its {count}")
            else:
                yield from (Skipped(path, "no table names it") for path in images)
            for path in sorted(set(paths).difference(images) - self.tables):
                if reason := self.aside.get(path):
                    yield Skipped(path, reason, ignored=True)
                else:
                    yield tree.ignored(path) or Skipped(path, "no table names it")
