"""A layout as its publisher documents it, and the truth about each of its images."""

from collections.abc import Mapping
from typing import NamedTuple


class Truth(NamedTuple):
    """What a dataset must hold for one image of a layout.

    Attributes:
        label: names that its class may have; empty: it has none.
        labels: its classes, where an image has several.
        split: of the image; "": the layout has none.
        holds: texts (captions, numbers of a box as they are written, categories) that must be found
            in the sample's members.
        files: further files of the layout, such as a mask, that must be the sample's members.
    """

    label: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    split: str = ""
    holds: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Layout(NamedTuple):
    """A layout in miniature.

    Attributes:
        source: the page, builder or tool that documents it.
        files: what lies where. An empty text stands for a small image of its own pixels.
        truth: of each image that is a sample, by its path below `src`. Masks, copies and thumbnails
            are none.
        src: what is packed, below the folder in which the files lie.
        options: of the command, as a person who has read ``packer pack --help`` would give them.
    """

    name: str
    source: str
    files: Mapping[str, str | bytes]
    truth: Mapping[str, Truth]
    src: str = ""
    options: tuple[str, ...] = ()
