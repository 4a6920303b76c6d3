"""What a source is taken for: said in one sentence, kept with the dataset, and never guessed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from packer.sources.options import SourceOptions
from packer.sources.records import Skipped, Source
from packer.sources.tree import Tree


@dataclass(frozen=True)
class Place:
    """What is to be packed.

    Attributes:
        path: of the folder or file.
        options: how it is to be understood.
        elsewhere: gives the reading of another path, with the same options.
    """

    path: Path
    options: SourceOptions
    elsewhere: "Callable[[Path], Reading]" = field(repr=False)

    @cached_property
    def tree(self) -> Tree | None:
        """What lies there; None for a file."""
        return Tree(self.path) if self.path.is_dir() else None

    @property
    def suffix(self) -> str:
        """A file's extension in lower case; "" for a folder."""
        return "" if self.tree else self.path.suffix.lower()


@dataclass(frozen=True)
class Reading:
    """One way to understand what lies at a place.

    Attributes:
        kind: the value of ``--as`` that chooses it.
        what: it is, for a person, such as "COCO annotations".
        open: gives the source; its argument are class names in label order, None for the source's
            own order.
        beside: what lies beside that place and belongs to nothing.
        general: a reading of the same kind that knows more of the place stands before it.
    """

    kind: str
    what: str
    open: Callable[[Sequence[str] | None], Source]
    beside: tuple[Skipped, ...] = ()
    general: bool = False
