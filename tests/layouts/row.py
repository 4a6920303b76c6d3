"""A layout in miniature, and what must become of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

OR = " || "  # between texts of `holds`, and names in `labels`, of which one is enough


def box(x: float, y: float, width: float, height: float) -> str:
    """A box in pixels: where a dataset declares boxes, its image must have this one."""
    return f"box {x:g} {y:g} {width:g} {height:g}"


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


class Whole(dict[str, Any]):
    """All that a sample's JSON holds."""


class Read(NamedTuple):
    """What a layout must be read as.

    Attributes:
        labels: class of each sample by its key, None for none.
        splits: of each sample by its key; empty: none has one.
        members: of every sample; or of each one by its key.
        ignored: files and folders that are named and ignored, with words of the reason.
        rejected: files that are named and stop the run before anything is packed, likewise.
        json: of samples by their key, or those of its fields that are named here.
        classes: their names in label order; None: the sorted names of `labels`.
        what: words of the sentence that says what it is.
        remark: words of a remark.
    """

    labels: Mapping[str, str | None]
    splits: Mapping[str, str] = {}
    members: tuple[str, ...] | Mapping[str, tuple[str, ...]] = ()
    ignored: Mapping[str, str] = {}
    rejected: Mapping[str, str] = {}
    json: Mapping[str, Mapping[str, Any]] = {}
    classes: tuple[str, ...] | None = None
    what: str = ""
    remark: str = ""


class Row(NamedTuple):
    """A layout.

    Attributes:
        files: their paths; what is named as an image is one, and anything else holds ``{}``.
        expected: what it must be read as, or the words of the refusal (a regular expression).
        options: of `SourceOptions`.
        contents: path -> what lies there, besides `files`.
        src: what is packed, below the folder in which the files lie.
        given: the order of classes that is asked for.
    """

    name: str
    files: str
    expected: Read | str
    options: Mapping[str, Any] = {}
    contents: Mapping[str, str | bytes] = {}
    src: str = ""
    given: tuple[str, ...] = ()
