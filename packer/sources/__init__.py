"""What can be packed. Every source yields the same record, `SourceSample`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class SourceSample:
    """One image of a source.

    Attributes:
        name: where it lies, relative to the source (`os.fsdecode` form).
        key: its name in the archive, unique in the source.
        label: class number, -1 without labels.
        size: bytes.
        mtime_ns: when it was last written; tells a file that changes while it is packed.
    """

    name: str
    key: str
    label: int
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class LeftOut:
    """A source file that is not packed.

    Attributes:
        ignored: the operating system's own litter (.DS_Store), which is reported and no error.
    """

    name: str
    reason: str
    ignored: bool = False


class Source(Protocol):
    """A source; it is sent to the packing processes, so it must pickle and stay small."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order; empty without labels."""

    def scan(self) -> Iterator[SourceSample | LeftOut]:
        """Everything there is, in a fixed order."""

    def read(self, sample: SourceSample) -> bytes:
        """The image's bytes; raises BadImage where they cannot be had as scanned."""
