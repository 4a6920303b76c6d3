"""What a source is taken for: said in one sentence, kept with the dataset, and never guessed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from packer.sources.options import SourceOptions
from packer.sources.records import Source


@dataclass(frozen=True)
class Place:
    """What is to be packed.

    Attributes:
        path: of the folder or file.
        options: how it is to be understood.
    """

    path: Path
    options: SourceOptions


@dataclass(frozen=True)
class Reading:
    """One way to understand what lies at a place.

    Attributes:
        kind: the value of ``--as`` that chooses it.
        what: it is, for a person, such as "COCO annotations".
        open: gives the source; its argument are class names in label order, None for the source's
            own order.
    """

    kind: str
    what: str
    open: Callable[[Sequence[str] | None], Source]


Recognise = Callable[[Place], Reading | None]
