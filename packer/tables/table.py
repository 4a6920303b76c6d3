"""What a table is, whatever its format: records that come in order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from packer.files.snapshot import Watched
from packer.samples.records import Skipped


@dataclass(frozen=True)
class Record:
    """One record.

    Attributes:
        where: the file and the line or row, for a person.
        fields: column -> value.
        place: the file, the row group, the row in it and the row in the file; empty for text.
        block: see `SourceSample`.
    """

    where: str
    fields: Mapping[str, Any]
    place: tuple[int, ...] = ()
    block: int = -1


class Table(Protocol):
    """A table of records."""

    @property
    def files(self) -> tuple[Watched, ...]:
        """What it is read from."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def compound(self) -> Mapping[str, str]:
        """What the columns hold that are not of single texts or numbers, and so no labels."""

    @property
    def class_names(self) -> Mapping[str, tuple[str, ...]]:
        """The columns that the table declares to hold labels, with the classes in label order."""

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What of the whole table means nothing, such as a column without a name."""

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Every record in a fixed order; with `columns`, others may be missing."""
