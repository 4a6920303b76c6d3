"""The options of packing, each with its kind of value, default, help and section of ``--help``.

The fields of `SourceOptions` and `PackOptions` shape the bytes of shards and are kept in
dataset.json; those of `RunOptions` do not, or are kept in another form. The latter object is passed
to every part of a run: a new option is a field here, and is read where it is used.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from packer.options import kinds
from packer.options.kinds import FLAG, Kind, one_of, size, text, whole
from packer.options.part import Part
from packer.words import flag, option
from reader.system import usable_cores

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from packer.images.encode import Policy
    from reader.format import Limits

KINDS = (
    *("folder", "flat", "coco", "voc", "yolo", "pairs", "hf"),
    *("table", "webdataset", "cifar", "idx", "arrays"),
)
PYTHON = "python"  # the kind of a Python dataset, which no command line chooses
FORMATS = ("xyxy", "xywh", "cxcywh")  # of boxes
SMALLEST_SHARD = 10**4  # bytes; less means that a unit was forgotten

SECTIONS = (
    *("What the source is", "What is stored", "How it is divided"),
    *("What is refused", "This run"),
)


@dataclass(frozen=True)
class Option:
    """One option."""

    name: str  # of the Python argument
    kind: Kind  # of its values
    help: str  # a text for ``--help``
    section: str  # of ``--help``
    default: Any = None  # value without it, as ``--help`` shows it; None: the help text names it
    aliases: tuple[str, ...] = ()  # further spellings on a command line

    @property
    def flag(self) -> str:
        """The option on a command line."""
        return flag(self.name)


def _option(section: str, kind: Kind, help: str, default: Any = None, **more: Any) -> Any:
    made = {"kind": kind, "help": help, "section": section, "default": default, **more}
    if default in ({}, ()):
        return field(default_factory=type(default), metadata={**made, "default": None})
    return field(default=default, metadata=made)


_source, _stored, _divided, _refused, _run = (partial(_option, section) for section in SECTIONS)


class ColumnNames(NamedTuple):
    """The columns of a table that a person has named, by what they hold."""

    image: str | None
    label: str | None
    split: str | None


def column_option(role: str, name: str | None = None) -> str:
    """Return, for a message, the option that names the column of a role in `ColumnNames`."""
    return option(f"{role}_column", name)


@dataclass(frozen=True)
class SourceOptions:
    """How the source is to be read; paths are relative, which is as dataset.json keeps them."""

    # name -> folder relative to the source; a ? behind the name allows images without a file.
    pairs: Mapping[str, str] = _source(
        kinds.PAIRS,
        "DIR holds a file for every image, under the image's path: member NAME of its sample. "
        "NAME?=DIR: an image may be without one.",
        {},
    )
    root: str | None = _source(  # relative to the folder of the table
        kinds.FOLDER, "Where the images of a table lie. Default: beside it."
    )
    image_column: str | None = _source(
        text(), "Of a table. Default: image, path, file, file_name, ..."
    )
    label_column: str | None = _source(
        text(),
        "Of a table. Default: what it declares, else label, labels, class, cls, category, ... "
        "none: no column is.",
    )
    split_column: str | None = _source(text(), "Of a table. Default: split. none: no column is.")
    kind: str | None = _source(
        one_of(*KINDS),
        "What SRC is, where it could be several things. Default: what its files show.",
    )
    class_depth: int | None = _source(  # -1: all; None: one level, unless that is doubtful
        kinds.DEPTH,
        "Levels of folders that name a class; all: each folder that holds images is one.",
    )
    label_separator: str | None = _source(
        text(),
        "Between the labels of one image, where a table has several in one column; none: a column "
        "holds one label.",
    )
    images: tuple[str, ...] = _source(
        kinds.TEMPLATES,
        "Which files are images, and what their paths say: '{split}/{label}/{key}'. May be given "
        "several times.",
        (),
    )
    members: Mapping[str, str] = _source(  # a ? in a name allows images without the file
        kinds.MEMBERS,
        "A file for every image: member NAME of its sample, at the path that TEMPLATE makes of the "
        "fields of --images. NAME?: an image may be without one.",
        {},
    )
    labels: tuple[str, ...] = _source(
        kinds.LISTS,
        "A list in SRC and the fields of its lines: 'list.txt: {key} {label}'. May be given "
        "several times.",
        (),
    )
    box_format: str | None = _source(
        one_of(*FORMATS),
        "Of the boxes of a table, where the names of their columns do not show it.",
    )

    ignore: tuple[str, ...] = _source(
        kinds.GLOBS,
        "Leave out the files and folders that match, relative to SRC: * and ? within a name, ** "
        "for any folders. May be given several times.",
        (),
    )

    @property
    def columns(self) -> ColumnNames:
        """The columns that are named."""
        return ColumnNames(*(getattr(self, f"{role}_column") for role in ColumnNames._fields))

    def with_columns(self, **names: str | None) -> "SourceOptions":
        """Return the same with other columns, by their roles."""
        changes: dict[str, Any] = {f"{role}_column": name for role, name in names.items()}
        return replace(self, **changes)

    @property
    def has_templates(self) -> bool:
        """Whether templates say what the source is."""
        return bool(self.images or self.members or self.labels)

    @property
    def of_table(self) -> bool:
        """Whether something is given that only a table can have."""
        return any((self.root, *self.columns, self.label_separator, self.box_format))

    def dump(self) -> dict[str, Any]:
        """Return what dataset.json has; options of later versions only where they are given."""
        newer = {"kind", "class_depth", "label_separator", "box_format"}
        newer |= {"images", "members", "labels", "ignore"}
        content = asdict(self).items()
        return {n: v for n, v in content if n not in newer or v not in (None, (), {})}


def _usual_limits() -> "Limits":
    from reader.format import Limits  # with numpy, which --help does without

    return Limits()


@dataclass(frozen=True)
class PackOptions:
    """The options that shape the bytes of shards; dataset.json keeps them."""

    shard_size: int | None = _divided(  # None: see `default_shard_size`
        size(SMALLEST_SHARD),
        "Largest shard. Default: 1GB, and less where that would make fewer than 64 shards, down "
        "to 10MB.",
    )
    shard_samples: int | None = _divided(whole(1), "Most samples in a shard.")
    seed: int | None = _divided(whole(), "Of the shuffle.", 0)  # None keeps the source's order
    jpeg: str = _stored(
        one_of("tiled", "verbatim"),
        "Transcode JPEGs without loss so that crops decode faster, or keep their bytes. "
        "Default: tiled, where numba or jpegtran is installed.",
        "tiled",
    )
    png: str = _stored(
        one_of("banded", "verbatim"),
        "Transcode PNGs without loss so that they and crops of them decode faster, or keep their "
        "bytes. Default: banded.",
        "banded",
    )
    max_side: int | None = _stored(whole(1), "Shrink larger images. Loses quality.")
    quality: int | None = _stored(whole(1, 100), "Re-encode as JPEG. Loses quality.")
    check: bool = _stored(FLAG, "Compare every pixel before and after transcoding.", False)
    raw: tuple[int, int] | None = _stored(
        kinds.HEIGHT_WIDTH,
        "Store decoded pixels of this size: scaled to cover it, and cut. For small images.",
    )
    split: Mapping[str, float] | None = _divided(
        kinds.SHARES,
        "Divide the samples by a hash of their keys, unless SRC has folders train, val, test.",
    )
    dedupe: bool = _source(FLAG, "Skip images that are byte for byte another.", False)
    source: SourceOptions = field(default_factory=SourceOptions)  # how the source is to be read
    limits: "Limits" = field(default_factory=_usual_limits)  # images beyond them are rejected

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
        """Return the options of a dataset.json, which anybody may have written."""
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
    checks = {name: OPTIONS[name].kind.stored or OPTIONS[name].kind.check for name in content}
    return {name: None if v is None else checks[name](v) for name, v in content.items()}


@dataclass(frozen=True)
class RunOptions:
    """Options that shape no bytes, and `shuffle` and limits as people give them."""

    classes: tuple[str, ...] | None = _source(
        kinds.CLASSES, "File of class names in label order, one a line. Default: sorted."
    )
    shuffle: bool = _divided(FLAG, "Shuffle the samples.", True)  # False: there is no seed
    on_error: str = _refused(
        one_of("stop", "skip"),
        "On a file that is not a sound image: commit nothing, or go on without it. All are named.",
        "stop",
    )
    max_pixels: int | None = _refused(whole(1), "Of an image. Default: 536870912 (2^29).")
    max_bytes: int | None = _refused(size(), "Of an image and its members. Default: 1GiB.")
    jobs: int | None = _run(
        whole(1), "Processes. Default: the cores this one may use.", aliases=("-j",)
    )
    executor: "Executor | str | None" = _run(  # noqa: RUF009
        kinds.ENGINE,
        "Where shards are packed: in processes here, or on the cluster that is there. Default: "
        "local.",
    )
    part: Part | None = _run(  # noqa: RUF009
        kinds.PART,
        "Write one of N parts, by a command on each machine, and commit nothing: the command "
        "without --part commits. slurm: the part of this task of a job array.",
    )
    scratch: Path | None = _run(  # noqa: RUF009
        kinds.NEW_FOLDER,
        "For what is fetched if SRC is a URL, and for shards before they are uploaded if DST is.",
    )
    append: bool = _run(FLAG, "Add what is new in SRC to the dataset at DST.", False)
    overwrite: bool = _run(
        FLAG, "Replace a dataset that is at DST; it is removed before the new one is packed.", False
    )
    progress: bool = _option("", FLAG, "", True)  # no command's

    @property
    def skips(self) -> bool:
        """Whether rejected files are left out, instead of ending the run."""
        return self.on_error == "skip"

    @property
    def processes(self) -> int:
        """Processes, or threads of a loop, at a time."""
        return self.jobs or usable_cores()


def _declared(*classes: Any) -> dict[str, Option]:
    each = (one for declaring in classes for one in fields(declaring) if one.metadata)
    return {one.name: Option(one.name, **one.metadata) for one in each}


OPTIONS: dict[str, Option] = _declared(SourceOptions, PackOptions, RunOptions)
SHAPING = frozenset(_declared(SourceOptions, PackOptions))


def by_name(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `PackOptions.dump` gave in one mapping: source and limits among the others."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        is_group = name in ("source", "limits") and isinstance(value, Mapping)
        found |= value if is_group else {name: value}
    return found
