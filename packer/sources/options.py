"""How a person says that a source is to be understood."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceOptions:
    """How the source is to be understood.

    Attributes:
        pairs: name -> folder relative to the source, whose files belong to the images; behind the
            name, a ``?`` says that an image may be without one.
        root: folder relative to a manifest, in which the images that it names lie.
        image_column, label_column, split_column: of a manifest; None: the usual names are tried.
    """

    pairs: Mapping[str, str] = field(default_factory=dict)
    root: str | None = None
    image_column: str | None = None
    label_column: str | None = None
    split_column: str | None = None

    @property
    def of_table(self) -> bool:
        """Whether something is said that only a manifest can have."""
        return any((self.root, self.image_column, self.label_column, self.split_column))
