"""A layout in miniature, and what must become of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Read(NamedTuple):
    """What a layout must be read as.

    Attributes:
        labels: class of each sample by its key, None for none.
        splits: of each sample by its key; empty: none has one.
        members: of every sample; or of each one by its key.
        ignored: files and folders that are named and ignored.
        rejected: files that are named and stop the run before anything is packed.
        json: of samples by their key, or those of its fields that are named here.
        classes: their names in label order; None: the sorted names of `labels`.
        what: words of the sentence that says what it is.
    """

    labels: Mapping[str, str | None]
    splits: Mapping[str, str] = {}
    members: tuple[str, ...] | Mapping[str, tuple[str, ...]] = ()
    ignored: frozenset[str] = frozenset()
    rejected: frozenset[str] = frozenset()
    json: Mapping[str, Mapping[str, Any]] = {}
    classes: tuple[str, ...] | None = None
    what: str = ""


class Row(NamedTuple):
    """A layout.

    Attributes:
        files: their paths; what is named as an image is one, and anything else holds ``{}``.
        expected: what it must be read as, or the words of the refusal (a regular expression).
        options: of `SourceOptions`.
        contents: path -> what lies there, besides `files`.
        src: what is packed, below the folder in which the files lie.
    """

    name: str
    files: str
    expected: Read | str
    options: Mapping[str, Any] = {}
    contents: Mapping[str, str | bytes] = {}
    src: str = ""


def in_splits(labels: Mapping[str, str | None], **splits: str) -> Read:
    """Samples whose split is told by the folder that their key begins with."""
    return Read(labels, {key: splits[key.split("/")[0]] for key in labels})
