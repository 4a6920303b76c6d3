"""Makes samples of files in a tree and of what a scan has made."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from packer.errors import BadImage, Damaged
from packer.keys import escape
from packer.samples.labels import MAX_TEXT, class_of_file
from packer.samples.records import Place, Sample, Skipped
from packer.sources.trees.tree import Tree


class SampleParts:
    """An image of a tree and its members, measured when they are added; raises BadImage."""

    __slots__ = ("_held", "_image", "_places", "_tree", "newest", "size")

    def __init__(self, tree: Tree, image: str, held: tuple[Place, int, int] | None = None) -> None:
        """`held`: place, size and time of an image that is no file of the tree."""
        self._tree, self._image = tree, image
        self._places: dict[str, Place] = {}
        self._held = held
        self.size, self.newest = held[1:] if held else tree.measure(image)
        if not self.size:
            raise Damaged("it is empty")

    def add(self, ext: str, path: str) -> None:
        """Add a file of the tree."""
        size, mtime_ns = self._tree.measure(path)
        self.add_place(ext, self._tree.place(path), size, mtime_ns)

    def add_place(self, ext: str, place: Place, size: int, mtime_ns: int) -> None:
        """Add what is measured already."""
        self._places[ext] = place
        self.size += size
        self.newest = max(self.newest, mtime_ns)

    def sample(
        self, key: str, label: int, split: str, *, block: int = -1, is_beside: bool = False
    ) -> Sample:
        """Return the sample; `is_beside`: all its files are found by its name."""
        places: Sequence[Place] = ()
        if not is_beside:
            at = self._held[0] if self._held else self._tree.place(self._image)
            places = (None if at == self._image else at, *self._places.values())
        return Sample(
            name=self._image,
            key=key,
            label=label,
            size=self.size,
            mtime_ns=self.newest,
            members=tuple(self._places),
            split=split,
            places=() if places == (None,) else places,
            block=block,
        )


def sample_of_files(
    tree: Tree,
    image: str,
    members: Mapping[str, str],
    *,
    label: int,
    split: str,
    keep_extension: bool = False,
    json: tuple[bytes, int] | None = None,
) -> Iterator[Sample | Skipped]:
    """Yield the sample of `image` and of the files `members` by extension, and what is skipped.

    `label` is -1 where the member ``cls`` may hold it; `keep_extension` makes the image's extension
    part of the key; `json` is a further member, and when the newest of its files was written.
    """
    try:
        parts = SampleParts(tree, image)
    except BadImage as error:
        yield Skipped.of(image, error)
        for path in members.values():
            yield Skipped(path, f"it belongs to {image!r}, which is rejected", damaged=True)
        return
    stem = os.path.splitext(image)[0]
    is_beside = not tree.unpack
    for ext, path in members.items():
        try:
            if ext == "cls":
                size, _ = tree.measure(path)
                label = class_of_file(label, size, partial(tree.begin, path, MAX_TEXT))
                continue
            parts.add(ext, path)
        except BadImage as error:
            yield Skipped.of(path, error)
            continue
        is_beside = is_beside and path == f"{stem}.{ext}"
    if json:
        data, mtime_ns = json
        parts.add_place("json", [data], len(data), mtime_ns)
        is_beside = False
    key = escape(image if keep_extension else stem)
    yield parts.sample(key, label, split, is_beside=is_beside)
