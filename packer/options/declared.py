"""The options of packing, each with its kind of value, default, help and section of ``--help``.

The fields of `SourceOptions` and `PackOptions` shape the bytes of shards and are kept in
dataset.json; those of `RunOptions` do not, or are kept in another form.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from packer.options.kinds import (
    CLASSES,
    DEPTH,
    ENGINE,
    FLAG,
    FOLDER,
    HEIGHT_WIDTH,
    PAIRS,
    SHARES,
    Kind,
    new_path,
    one_of,
    size,
    text,
    whole,
)
from packer.words import flag

if TYPE_CHECKING:
    from packer.images.encode import Policy
    from reader.format import Limits

KINDS = (
    *("folder", "flat", "coco", "voc", "yolo", "pairs", "hf"),
    *("table", "webdataset", "cifar", "idx"),
)
PYTHON = "python"  # the kind of a Python dataset, which no command line chooses
FORMATS = ("xyxy", "xywh", "cxcywh")  # of boxes
SMALLEST_SHARD = 10**4  # bytes; less means that a unit was forgotten

SOURCE, STORED, DIVIDED = "What the source is", "What is stored", "How it is divided"
REFUSED, RUN = "What is refused", "This run"
SECTIONS = (SOURCE, STORED, DIVIDED, REFUSED, RUN)


@dataclass(frozen=True)
class Option:
    """One option.

    Attributes:
        name: of the Python argument.
        kind: of its values.
        help: a text for ``--help``.
        section: of ``--help``.
        default: value without it, as ``--help`` shows it; None: the help text names it.
        aliases: further spellings on a command line.
    """

    name: str
    kind: Kind
    help: str
    section: str
    default: Any = None
    aliases: tuple[str, ...] = ()

    @property
    def flag(self) -> str:
        """The option on a command line."""
        return flag(self.name)


def _option(kind: Kind, help: str, section: str, default: Any = None, **more: Any) -> Any:
    made = {"kind": kind, "help": help, "section": section, "default": default, **more}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={**made, "default": None})
    return field(default=default, metadata=made)


@dataclass(frozen=True)
class SourceOptions:
    """How the source is to be read.

    Attributes:
        pairs: name -> folder relative to the source, whose files belong to the images; a ``?``
            behind the name allows images without one.
        root: folder of a table's images, relative to the folder of the table.
        class_depth: levels of folders that name a class; -1: each folder that holds images is a
            class; None: one level, unless that is doubtful.
    """

    pairs: Mapping[str, str] = _option(
        PAIRS,
        "DIR holds a file for every image, under the image's path: member NAME of its sample. "
        "NAME?=DIR: an image may be without one.",
        SOURCE,
        {},
    )
    root: str | None = _option(
        FOLDER, "Where the images of a table lie. Default: beside it.", SOURCE
    )
    image_column: str | None = _option(
        text(), "Of a table. Default: image, path, file, file_name, ...", SOURCE
    )
    label_column: str | None = _option(
        text(),
        "Of a table. Default: what it declares, else label, labels, class, cls, category, ... "
        "none: no column is.",
        SOURCE,
    )
    split_column: str | None = _option(text(), "Of a table. Default: split.", SOURCE)
    kind: str | None = _option(
        one_of(*KINDS),
        "What SRC is, where it could be several things. Default: what its files show.",
        SOURCE,
    )
    class_depth: int | None = _option(
        DEPTH,
        "Levels of folders that name a class; all: each folder that holds images is one.",
        SOURCE,
    )
    label_separator: str | None = _option(
        text(),
        "Between the labels of one image, where a table has several in one column; none: a column "
        "holds one label.",
        SOURCE,
    )
    box_format: str | None = _option(
        one_of(*FORMATS),
        "Of the boxes of a table, where the names of their columns do not show it.",
        SOURCE,
    )

    @property
    def of_table(self) -> bool:
        """Whether something is given that only a table can have."""
        columns = (self.image_column, self.label_column, self.split_column)
        return any((self.root, *columns, self.label_separator, self.box_format))

    def dump(self) -> dict[str, Any]:
        """Return what dataset.json has; options of later versions only where they are given."""
        newer = ("kind", "class_depth", "label_separator", "box_format")
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in newer or value is not None
        }


def _usual_limits() -> "Limits":
    from reader.format import Limits  # with numpy, which --help does without

    return Limits()


@dataclass(frozen=True)
class PackOptions:
    """The options that shape the bytes of shards; dataset.json keeps them.

    Attributes:
        shard_size: bytes that a shard should not exceed; None: see `default_shard_size`.
        seed: of the shuffle; None keeps the source's order.
        raw: height and width in pixels.
        source: how the source is to be read.
        limits: images beyond them are rejected.
    """

    shard_size: int | None = _option(
        size(SMALLEST_SHARD),
        "Largest shard. Default: 1GB, and less where that would make fewer than 64 shards, down "
        "to 10MB.",
        DIVIDED,
    )
    shard_samples: int | None = _option(whole(1), "Most samples in a shard.", DIVIDED)
    seed: int | None = _option(whole(), "Of the shuffle.", DIVIDED, 0)
    jpeg: str = _option(
        one_of("tiled", "verbatim"),
        "Transcode JPEGs without loss so that crops decode faster, or keep their bytes. "
        "Default: tiled, where numba or jpegtran is installed.",
        STORED,
        "tiled",
    )
    png: str = _option(
        one_of("banded", "verbatim"),
        "Transcode PNGs without loss so that they and crops of them decode faster, or keep their "
        "bytes. Default: banded.",
        STORED,
        "banded",
    )
    max_side: int | None = _option(whole(1), "Shrink larger images. Loses quality.", STORED)
    quality: int | None = _option(whole(1, 100), "Re-encode as JPEG. Loses quality.", STORED)
    check: bool = _option(FLAG, "Compare every pixel before and after transcoding.", STORED, False)
    raw: tuple[int, int] | None = _option(
        HEIGHT_WIDTH,
        "Store decoded pixels of this size: scaled to cover it, and cut. For small images.",
        STORED,
    )
    split: Mapping[str, float] | None = _option(
        SHARES,
        "Divide the samples by a hash of their keys, unless SRC has folders train, val, test.",
        DIVIDED,
    )
    dedupe: bool = _option(FLAG, "Skip images that are byte for byte another.", SOURCE, False)
    source: SourceOptions = field(default_factory=SourceOptions)
    limits: "Limits" = field(default_factory=_usual_limits)

    @property
    def policy(self) -> "Policy":
        """What is done with each image."""
        from packer.images.encode import Policy

        is_tiled, is_banded = self.jpeg == "tiled", self.png == "banded"
        how = self.max_side, self.quality, self.check, self.raw
        return Policy(is_tiled, is_banded, *how, self.limits)

    @property
    def raw_bytes(self) -> int | None:
        """Bytes of every image with `raw`."""
        return None if self.raw is None else 3 * self.raw[0] * self.raw[1]

    def dump(self) -> dict[str, Any]:
        """Return what dataset.json has."""
        return dict(json.loads(json.dumps({**asdict(self), "source": self.source.dump()})))

    @classmethod
    def load(cls, content: Mapping[str, Any]) -> "PackOptions":
        """Return the options of a dataset.json, which anybody may have written.

        Raises:
            TypeError, KeyError, ValueError: they are of another version, or beyond their bounds.
        """
        from reader.format import Limits

        own = {**content}
        source, limits = own.pop("source"), own.pop("limits")
        if not (isinstance(source, Mapping) and isinstance(limits, Mapping)):
            raise TypeError
        kind = source.get("kind")
        loaded = _loaded({name: v for name, v in source.items() if (name, v) != ("kind", PYTHON)})
        if kind == PYTHON:
            loaded["kind"] = kind
        bounds = Limits(**{name: whole(1).check(value) for name, value in limits.items()})
        return cls(**_loaded(own), source=SourceOptions(**loaded), limits=bounds)


def _loaded(content: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: None
        if value is None
        else (OPTIONS[name].kind.stored or OPTIONS[name].kind.check)(value)
        for name, value in content.items()
    }


@dataclass(frozen=True)
class RunOptions:
    """Options that shape no bytes, and the forms in which a person gives those that do.

    Attributes:
        shuffle: False: `PackOptions.seed` is None.
        max_pixels, max_bytes: `PackOptions.limits`.
    """

    classes: tuple[str, ...] | None = _option(
        CLASSES, "File of class names in label order, one a line. Default: sorted.", SOURCE
    )
    shuffle: bool = _option(FLAG, "Shuffle the samples.", DIVIDED, True)
    on_error: str = _option(
        one_of("stop", "skip"),
        "On a file that is not a sound image: commit nothing, or go on without it. All are named.",
        REFUSED,
        "stop",
    )
    max_pixels: int | None = _option(whole(1), "Of an image. Default: 536870912 (2^29).", REFUSED)
    max_bytes: int | None = _option(size(), "Of an image and its members. Default: 1GiB.", REFUSED)
    jobs: int | None = _option(
        whole(1), "Processes. Default: the cores this one may use.", RUN, aliases=("-j",)
    )
    executor: str | None = _option(
        ENGINE,
        "Where shards are packed: in processes here, or on the cluster that is there. Default: "
        "local.",
        RUN,
    )
    part: str | None = _option(
        text("I/N|slurm"),
        "Write one of N parts, by a command on each machine, and commit nothing: the command "
        "without --part commits. slurm: the part of this task of a job array.",
        RUN,
    )
    scratch: str | None = _option(
        new_path("DIR"),
        "For what is fetched if SRC is a URL, and for shards before they are uploaded if DST is.",
        RUN,
    )
    append: bool = _option(FLAG, "Add what is new in SRC to the dataset at DST.", RUN, False)
    overwrite: bool = _option(
        FLAG,
        "Replace a dataset that is at DST; it is removed before the new one is packed.",
        RUN,
        False,
    )
    progress: bool = _option(FLAG, "", "", True)


def _declared(*classes: Any) -> dict[str, Option]:
    found = [
        Option(one.name, **one.metadata)
        for declaring in classes
        for one in fields(declaring)
        if one.metadata
    ]
    return {option.name: option for option in found}


OPTIONS: dict[str, Option] = _declared(SourceOptions, PackOptions, RunOptions)
SHAPING = frozenset(_declared(SourceOptions, PackOptions))


def by_name(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `PackOptions.dump` gave in one mapping: source and limits among the others."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        is_group = name in ("source", "limits") and isinstance(value, Mapping)
        found |= value if is_group else {name: value}
    return found
