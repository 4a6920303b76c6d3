"""What a source is taken for: said in one sentence, kept with the dataset, and never guessed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from packer.options.declared import SourceOptions
from packer.samples.records import Skipped, Source
from packer.trees.archive import tree_at
from packer.trees.tree import Tree


@dataclass(frozen=True)
class Place:
    """What is to be packed.

    Attributes:
        path: of the folder or file.
        options: how it is to be understood.
        elsewhere: gives the reading of another path, with the same options.
        listed: what is known to lie there.
    """

    path: Path
    options: SourceOptions
    elsewhere: "Callable[[Path], Reading]" = field(repr=False)
    listed: Tree | None = field(default=None, repr=False)

    @cached_property
    def tree(self) -> Tree | None:
        """What lies there; None for a file that is no archive."""
        return self.listed or tree_at(self.path)

    def within(self, name: str) -> "Place":
        """A folder in this one; what was listed of it is not listed again."""
        listed = self.tree.below(name) if self.tree else None
        return replace(self, path=self.path / name, listed=listed)

    @property
    def suffix(self) -> str:
        """A file's extension in lower case; "" for a folder."""
        return "" if self.path.is_dir() else self.path.suffix.lower()


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
