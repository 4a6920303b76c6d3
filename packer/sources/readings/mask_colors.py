"""Finds the file that lists the colours of the classes in a source's masks."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage
from packer.samples.records import Reader, Source
from packer.samples.table import SampleTable
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import NOT_AN_IMAGE
from packer.words import listed, many
from reader.format import MaskColors
from reader.format.mask_colors import MOST_BYTES
from reader.format.members import picture_format
from reader.format.pictures import opened

_FORMS = (".csv", ".tsv", ".txt")
_FILES = 32  # of these that are read
_SAMPLES = 1_000  # among which masks are looked for
_MASKS = 4  # that are decoded
_PIXELS = 1 << 26
_NAMES = ("class_dict", "color", "colour", "palette", "labelmap")  # are meant for this

Codes = NDArray[np.uint32]


def find_mask_colors(
    source: Source, files: Reader, listing: SampleTable
) -> tuple[Mapping[str, MaskColors], tuple[str, ...]]:
    """Return the colours of masks by their extension, and remarks; note the file as read.

    A file has the colours of masks if these are in colour, and most of their pixels are in it.
    """
    tree = getattr(source, "tree", None)
    pictures = [ext for ext in sorted(listing.members) if picture_format(ext)]
    if not isinstance(tree, Tree) or not pictures:
        return {}, ()
    paths = [item.name for item in listing.skipped if item.reason == NOT_AN_IMAGE]
    paths = [path for path in paths if path.lower().endswith(_FORMS) and not path.startswith("..")]
    lists, faults = {}, {}
    for path in paths[:_FILES]:
        with suppress(BadImage, OSError):
            try:
                lists[path] = MaskColors.parse(tree.begin(path, MOST_BYTES + 1))
            except ValueError as error:
                if any(name in path.lower() for name in _NAMES):
                    faults[path] = str(error)
    if not lists and not faults:
        return {}, ()
    found: dict[str, MaskColors] = {}
    remarks = []
    for ext in pictures:
        masks = list(islice(_masks(files, listing, ext), _MASKS))
        if not masks or any(mask is None for mask in masks):
            continue
        fitting = {
            path: one
            for path, one in lists.items()
            if all(np.isin(mask, _codes(one)).mean() > 0.5 for mask in masks if mask is not None)
        }
        if len(set(fitting.values())) > 1:
            remarks.append(
                f"{listed(list(fitting))} list different colours of classes. To choose one, pass "
                f'its path: reader.Mask("{ext}", colors=...).'
            )
        elif fitting:
            path, found[ext] = next(iter(fitting.items()))
            count = many(len(found[ext].colors), "class")
            remarks.append(
                f'{path} has the colours of {count}: reader.Mask("{ext}") returns their numbers.'
            )
            _note(listing, fitting)
        else:
            remarks += [
                f"The masks {ext} are in colour, and {path} is not a list of their colours: "
                f"{fault}."
                for path, fault in faults.items()
            ]
    return found, tuple(remarks)


def _masks(files: Reader, listing: SampleTable, ext: str) -> Iterator[Codes | None]:
    """Yield the colours of the pixels of masks; None for one that is not in colour."""
    for sample in islice(listing, _SAMPLES):
        if ext in sample.members:
            with suppress(Exception):  # packing names what is wrong with it
                data = files.read(sample).members[ext]
                with opened(data) as picture:
                    if picture.width * picture.height > _PIXELS:
                        continue
                    is_coloured = picture.mode in ("RGB", "RGBA")
                    pixels = np.asarray(picture.convert("RGB"), np.uint32).reshape(-1, 3)
                yield pixels @ np.array([1, 1 << 8, 1 << 16], np.uint32) if is_coloured else None


def _codes(colors: MaskColors) -> Codes:
    return np.array([r | g << 8 | b << 16 for r, g, b in colors.colors], np.uint32)


def _note(listing: SampleTable, paths: Mapping[str, MaskColors]) -> None:
    """Report files as read, so that they are no evidence of something else."""
    reason = "dataset.json has its colours"
    listing.skipped = [
        replace(item, reason=reason) if item.name in paths else item for item in listing.skipped
    ]
