"""Samples and sources: every source yields the same record, `Sample`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from numpy.typing import NDArray

from packer.errors import BadImage, Damaged, Lacking, Missing, Repeated
from reader.format import BoxEncoding
from reader.format.frames import Packed

if TYPE_CHECKING:
    from PIL.Image import Image

Place = str | Sequence[Any] | None  # where the bytes of an image or a member lie, see `places`


@dataclass(frozen=True)
class Sample:
    """One image of a source, and what belongs to it."""

    name: str  # where the image lies, relative to the source (`os.fsdecode` form)
    key: str  # its name in the archive, unique in the source
    label: int  # class number, -1 without labels
    size: int  # bytes of the image and its members
    mtime_ns: int  # when the newest of its files was written, to notice changes; 0: not known
    members: tuple[str, ...] = ()  # extensions of further members, in the order of storage
    split: str = ""  # the part of the dataset that the source puts it into, "" for none
    # Of the image, then of each member. Empty: the file of this name, and those of its stem.
    places: Sequence[Place] = ()
    # Samples of one number are cheap to read only one after the other (a Parquet row group); -1:
    # any order will do.
    block: int = -1
    # Width and height that its annotation gives of the picture that its coordinates are of.
    picture: tuple[int, int] | None = None


@dataclass(frozen=True)
class Skipped:
    """A source file that is not packed."""

    name: str
    reason: str
    ignored: bool = False  # no error: nothing of value is missing without it, as litter or a copy
    damaged: bool = False  # or missing; without it the dataset is what it was read as
    lacks: str = ""  # the required member without which it is not packed
    repeats: bool = False  # a record whose image is packed by another
    missing: bool = False  # there is no file of that name
    class_name: str = ""  # of a class folder from which no sample came
    contradicts: bool = False  # its class, split or members differ from those of its equal

    @classmethod
    def of(cls, name: str, error: BadImage) -> "Skipped":
        lacks = error.member if isinstance(error, Lacking) else ""
        damaged, repeats, missing = (isinstance(error, k) for k in (Damaged, Repeated, Missing))
        return cls(name, error.message, False, damaged, lacks, repeats, missing)


@dataclass(frozen=True)
class Content:
    """The content of a source for one sample."""

    # Of a file; uint8 (height, width, channels); or what another dataset has of it.
    image: "bytes | NDArray[Any] | Image | Packed"
    members: Mapping[str, bytes] = field(default_factory=dict)  # further ones, by extension
    sample: Sample | None = None  # as it is known now; None: as it was scanned


class Late(NamedTuple):
    """What a few items have, where only reading one shows its label, key and members."""

    keyed: bool
    labelled: bool
    members: tuple[str, ...]


class Reader(Protocol):
    """Reads samples; it is sent to the packing processes, so it must pickle and stay small."""

    @property
    def late(self) -> Late | None:
        """None where a scan knows the samples' labels, keys and members."""

    @property
    def identity(self) -> str:
        """What tells whether it is the same source, where the samples do not; else ""."""

    def with_spool(self, path: Path | None) -> "Reader":
        """Return the same, with the file of what the scan has made."""

    def member_files(self, sample: Sample) -> Sequence[str]:
        """Return the files of the source that hold the sample's members, and no other sample."""

    def read(self, sample: Sample) -> Content:
        """Return the sample's image and members; raise BadImage unless they are as scanned."""


@dataclass(frozen=True)
class Facts:
    """The facts of a source, beside its samples."""

    remarks: tuple[str, ...] = ()  # sentences for a person
    unlabelled: Callable[[], Iterable[str]] = tuple  # such sentences if no sample has a label
    root: Path | None = None  # folder in which its files lie; None: they lie where the source does
    boxes: Mapping[str, BoxEncoding] = field(default_factory=dict)  # how members hold them, by ext
    only_boxes: bool = True  # False: members hold further shapes, and a remark says how to read all
    lists: tuple[str, ...] = ()  # files that name the images; others lie beside these
    outright: tuple[str, ...] = ()  # options that say how it is read; none if no template can


class Source(Protocol):
    """A source in the process that scans."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order; empty without labels."""

    @property
    def facts(self) -> Facts:
        """Its facts."""

    @property
    def files(self) -> Reader:
        """The reader of its samples."""

    def scan(self) -> Iterator[Sample | Skipped]:
        """Everything there is, in a fixed order."""
