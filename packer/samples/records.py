"""What can be packed. Every source yields the same record, `SourceSample`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from packer.errors import BadImage, Damaged
from reader.format import BoxEncoding

if TYPE_CHECKING:
    from PIL.Image import Image

Place = str | Sequence[Any] | None  # where the bytes of an image or a member lie, see `places`


@dataclass(frozen=True)
class SourceSample:
    """One image of a source, and what belongs to it."""

    name: str  # where the image lies, relative to the source (`os.fsdecode` form)
    key: str  # its name in the archive, unique in the source
    label: int  # class number, -1 without labels
    size: int  # bytes of the image and its members
    # when the newest of its files was written; tells what changes while it is packed, and what is
    # mended before it is packed again. 0: nothing tells that
    mtime_ns: int
    # extensions of its further members, in the order in which they are stored
    members: tuple[str, ...] = ()
    split: str = ""  # the part of the dataset that the source puts it into, "" for none
    # of the image, then of each member; empty: the image is the file of this name, and each member
    # the file beside it that has its stem
    places: Sequence[Place] = ()
    # samples of one number lie together and are cheap to read one after the other only (a row group
    # of a Parquet file); -1 where any order will do
    block: int = -1


@dataclass(frozen=True)
class Skipped:
    """A source file that is not packed."""

    name: str
    reason: str
    # nothing of value is missing without it (the operating system's own litter, a copy of another
    # file), so that it is reported and no error
    ignored: bool = False
    # the file is damaged or missing, and the dataset is what it was read as without it
    damaged: bool = False

    @classmethod
    def of(cls, name: str, error: BadImage) -> "Skipped":
        """What is skipped for an error."""
        return cls(name, str(error), damaged=isinstance(error, Damaged))


@dataclass(frozen=True)
class EmptyClass(Skipped):
    """A class folder from which no sample came."""

    class_name: str = ""  # that it would have had


@dataclass(frozen=True)
class Content:
    """What a source holds for one sample."""

    # an image file's bytes, or pixels as a uint8 array (height, width, channels), or a picture of
    # Pillow's
    image: "bytes | NDArray[Any] | Image"
    # the bytes of each further member by extension, as `SourceSample.members` says
    members: Mapping[str, bytes] = field(default_factory=dict)
    sample: SourceSample | None = None  # as it is now known to be; None: as it was scanned


class Reader(Protocol):
    """Reads samples; it is sent to the packing processes, so it must pickle and stay small."""

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """Files of the source that hold the sample's members, and no other sample."""

    def read(self, sample: SourceSample) -> Content:
        """The sample's image and members; raises BadImage where they are not there as scanned."""


@dataclass(frozen=True)
class Facts:
    """What a source says of itself beside its samples."""

    # the options that it understands beside those of all sources
    heeds: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()  # sentences for a person
    # gives such sentences where no sample has a label
    unlabelled: Callable[[], Iterable[str]] = tuple
    is_late: bool = False  # labels, keys and members are known only when an item is read
    is_keyed: bool = False  # what a few of such items have
    is_labelled: bool = False
    members: tuple[str, ...] = ()
    identity: str = ""  # tells whether it is the same source, where the samples do not
    root: Path | None = None  # folder in which its files lie; None: they lie where the source does
    # how members hold boxes, by extension
    boxes: Mapping[str, BoxEncoding] = field(default_factory=dict)


class Source(Protocol):
    """A source, as the process that scans knows it."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order; empty without labels."""

    @property
    def facts(self) -> Facts:
        """What it says of itself."""

    @property
    def files(self) -> Reader:
        """What reads its samples."""

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """Everything there is, in a fixed order."""
