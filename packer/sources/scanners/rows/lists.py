"""The lists of a layout: a `Row` for each image, and what is known of all of them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from packer.errors import BadImage
from packer.keys import Hashes
from packer.samples.records import Facts, Place, Sample, Skipped
from packer.sources.tables.classes import Labels
from packer.sources.tables.images import Keys


class Parsed(str):
    """The path of a file of which `Lists.parse` makes a member; it is the member for None."""


class Held(NamedTuple):
    """Bytes whose place and size are known."""

    place: Place
    size: int
    mtime_ns: int

    @classmethod
    def made(cls, data: bytes, mtime_ns: int = 0, files: Sequence[str] = ()) -> "Held":
        """Return what the scan has made of `files`; `mtime_ns`: when the newest was written."""
        return cls([data, *files], len(data), mtime_ns)


Members = Mapping[str, str | bytes | Held]


class Row(NamedTuple):
    """One image of the lists; paths are relative to the tree.

    Attributes:
        label: the name of its class, or its number where classes have no names.
        members: extension -> path of each file that is a member, or what the lists make.
        where: a list names it, for errors; "": at the image.
        written: the image as a table has it, for errors; None: it is in a list of images, of
            which each fault is damage.
        held: where it lies, if it is no file of the tree.
        block: see `Sample`.
        complete: adds what is costly to find; raises BadImage.
    """

    image: str
    label: str | None = None
    split: str = ""
    members: Members = MappingProxyType({})
    where: str = ""
    written: str | None = None
    held: Held | None = None
    block: int = -1
    complete: "Callable[[Row], Row] | None" = None

    def rejected(self, error: BadImage) -> Skipped:
        """Return what is reported of it for an error."""
        found = Skipped.of(self.where or self.image, error)
        if self.written is None:
            return replace(found, damaged=True)
        return replace(found, reason=f"{self.written!r}: {error}") if self.written else found


Rows = Callable[[], Iterator[Row | Skipped]]


@dataclass(frozen=True)
class Lists:
    """The lists of one layout.

    Attributes:
        rows: gives a row for each image, and what is skipped, in a fixed order; without `keys`, it
            is called twice.
        classes: class names in label order; empty: there are no labels.
        sources: the files that it is read from, relative to the tree.
        ignored: further files, or folders with a ``/`` behind them, that mean nothing here ->
            the reason.
        parse: makes a member of the bytes of a file that is `Parsed`; raises BadImage.
        leftover_reason: why an image that no row names is ignored; "": it is rejected.
        facts: of the source.
        is_whole: all files of the tree belong to it, and those that no row names are named.
        labels: what labels mean, where they are not the names of `classes`.
        keys: those of the images, all of which are known to be named by paths in the tree; None:
            a pass over the rows makes them.
        known: the sorted hashes of all files that rows name; None: the scan gathers them.
        unnamed: what becomes of the images of a folder that no row names, with the splits of all
            samples; None: each is skipped.
        not_listed: the reason why a file that no row names is skipped.
        joined: adds what a row has to a sample that is known.
    """

    rows: Rows
    classes: Sequence[str] = ()
    sources: Collection[str] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    parse: Callable[[bytes], bytes | None] = lambda _: None
    leftover_reason: str = ""
    facts: Facts = field(default_factory=Facts)
    is_whole: bool = True
    labels: Labels | None = None
    keys: Callable[[], Keys] | None = None
    known: Callable[[], Hashes] | None = None
    unnamed: Callable[[str, Sequence[str], Set[str]], Iterator[Sample | Skipped]] | None = None
    not_listed: str = "it is in no list"
    joined: Callable[[Sample], Sample] | None = None
