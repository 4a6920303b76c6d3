"""A sample of several files: an image, and the members that lie in files of their own."""

import os
from collections.abc import Iterator, Mapping
from functools import partial

from packer.errors import BadImage
from packer.keys import escape
from packer.samples.labels import MAX_TEXT, class_of_file
from packer.samples.records import Skipped, SourceSample
from packer.trees.tree import Tree


def sample_of_files(
    tree: Tree,
    image: str,
    members: Mapping[str, str],
    *,
    label: int,
    split: str,
    keep_extension: bool = False,
) -> Iterator[SourceSample | Skipped]:
    """Yield the sample of `image`, and its files that are skipped; `members`: by extension."""
    try:
        size, mtime_ns = tree.measure_image(image)
    except BadImage as error:
        yield Skipped.of(image, error)
        for path in members.values():
            yield Skipped(path, f"it belongs to {image!r}, which is rejected", damaged=True)
        return
    found = {}
    for ext, path in members.items():
        try:
            member_size, member_time = tree.measure(path)
            if ext == "cls":
                label = class_of_file(label, member_size, partial(tree.begin, path, MAX_TEXT))
                continue
        except BadImage as error:
            yield Skipped.of(path, error)
            continue
        found[ext] = path
        size += member_size
        mtime_ns = max(mtime_ns, member_time)
    stem = os.path.splitext(image)[0]
    places = tree.places(image, map(tree.place, found.values()))
    derived = all(path == f"{stem}.{ext}" for ext, path in found.items())
    yield SourceSample(
        name=image,
        key=escape(image if keep_extension else stem),
        label=label,
        size=size,
        mtime_ns=mtime_ns,
        members=tuple(found),
        split=split,
        places=places[:0] if derived and places[:1] == (None,) else places,
    )
