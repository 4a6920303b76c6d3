"""What can be packed. Every source yields the same record, `SourceSample`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from packer.errors import BadImage, Damaged, Unreadable
from packer.files.snapshot import CHANGED

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class SourceSample:
    """One image of a source, and what belongs to it.

    Attributes:
        name: where the image lies, relative to the source (`os.fsdecode` form).
        key: its name in the archive, unique in the source.
        label: class number, -1 without labels.
        size: bytes of the image and its members.
        mtime_ns: when the newest of its files was written; tells what changes while it is packed,
            and what is mended before it is packed again. 0: nothing tells that.
        members: extensions of its further members, in the order in which they are stored.
        split: the part of the dataset that the source puts it into, "" for none.
        locator: what else the source must know to find it again, in its own words.
        block: samples of one number lie together and are cheap to read one after the other only
            (a row group of a Parquet file); -1 where any order will do.
    """

    name: str
    key: str
    label: int
    size: int
    mtime_ns: int
    members: tuple[str, ...] = ()
    split: str = ""
    locator: str = ""
    block: int = -1


@dataclass(frozen=True)
class Skipped:
    """A source file that is not packed.

    Attributes:
        ignored: nothing of value is missing without it (the operating system's own litter, a copy
            of another file), so that it is reported and no error.
        damaged: the file is damaged or missing, and the dataset is what it was read as without it.
    """

    name: str
    reason: str
    ignored: bool = False
    damaged: bool = False

    @classmethod
    def of(cls, name: str, error: BadImage) -> "Skipped":
        """What is skipped for an error."""
        return cls(name, str(error), damaged=isinstance(error, Damaged))


@dataclass(frozen=True)
class EmptyClass(Skipped):
    """A class folder from which no sample came.

    Attributes:
        class_name: that it would have had.
    """

    class_name: str = ""


@dataclass(frozen=True)
class Content:
    """What a source holds for one sample.

    Attributes:
        image: an image file's bytes, or pixels as a uint8 array (height, width, channels), or a
            picture of Pillow's.
        members: the bytes of each further member by extension, as `SourceSample.members` says.
        sample: as it is now known to be; None: as it was scanned.
    """

    image: "bytes | NDArray[Any] | Image"
    members: Mapping[str, bytes] = field(default_factory=dict)
    sample: SourceSample | None = None

    @property
    def size(self) -> int:
        """Bytes of an image file and the members."""
        assert isinstance(self.image, bytes)
        return len(self.image) + sum(map(len, self.members.values()))

    def as_scanned(self, sample: SourceSample, newest_ns: int) -> "Content":
        """This, if it is what was scanned; `newest_ns`: when the newest file was written.

        Raises:
            Unreadable: it is not.
        """
        if (self.size, newest_ns) != (sample.size, sample.mtime_ns):
            raise Unreadable(CHANGED)
        return self


class Source(Protocol):
    """A source; it is sent to the packing processes, so it must pickle and stay small."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order; empty without labels."""

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """Everything there is, in a fixed order."""

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """Files of the source that hold the sample's members, and no other sample."""

    def read(self, sample: SourceSample) -> Content:
        """The sample's image and members; raises BadImage where they are not there as scanned."""
