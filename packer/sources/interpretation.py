"""How a source is understood: one sentence, kept with the dataset, and never guessed."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from packer.options.declared import SourceOptions
from packer.samples.records import Skipped, Source
from packer.sources.trees.find import tree_at
from packer.sources.trees.tree import Tree


@dataclass(frozen=True)
class Candidate:
    """A folder or file that recognisers look at.

    Attributes:
        listed: its tree, where that is known already.
    """

    path: Path
    options: SourceOptions
    listed: Tree | None = field(default=None, repr=False)

    @cached_property
    def tree(self) -> Tree | None:
        """The archive's tree; None for a file that is not an archive."""
        return self.listed or tree_at(self.path, self.options.ignore)

    def within(self, name: str) -> "Candidate":
        """Return a folder in this one; what was listed of it is not listed again."""
        listed, options = self.tree.below(name) if self.tree else None, self.options
        if options.root is not None:  # which is relative to the folder above
            options = replace(options, root=os.path.relpath(options.root, self.path.name))
        return replace(self, path=self.path / name, options=options, listed=listed)

    @property
    def suffix(self) -> str:
        """A file's extension in lower case; "" for a folder."""
        return "" if self.path.is_dir() else self.path.suffix.lower()


@dataclass(frozen=True)
class Interpretation:
    """One interpretation of a candidate.

    Attributes:
        kind: the value of ``--as`` that chooses it.
        what: it is, for a person, such as "COCO annotations".
        open: gives the source; its argument are class names in label order, None for the source's
            own order.
        leftovers: files beside the candidate that belong to no sample.
        general: one of the same kind that is not `general` stands before it.
        columns: the options that name columns, and the folder of the images, are for it.
    """

    kind: str
    what: str
    open: Callable[[Sequence[str] | None], Source]
    leftovers: tuple[Skipped, ...] = ()
    general: bool = False
    columns: bool = False
