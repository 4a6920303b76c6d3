"""The options of packing, each with its kind of value, default, help and section of ``--help``.

The fields of `SourceOptions` and `PackOptions` shape the bytes of shards and are kept in
dataset.json; those of `RunOptions` do not, or are kept in another form. `packer.run` has all of
them, and hands to each step of a run the values that it needs.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from packer.options import kinds
from packer.options.kinds import FLAG, SECTIONS, TEXT, Option, declare, one_of, size, whole
from packer.options.part import Part
from reader.system import usable_cores

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from packer.images.encode import Policy
    from reader.format import Limits

KINDS = (
    *("folder", "flat", "coco", "voc", "yolo", "pairs", "hf"),
    *("table", "webdataset", "cifar", "idx", "arrays", "records"),
)
PYTHON = "python"  # the kind of a Python dataset, which no command line chooses
FORMATS = ("xyxy", "xywh", "cxcywh")  # of boxes
SMALLEST_SHARD = 10**4  # bytes; less means that a unit was forgotten
_FIRST = ("pairs", "root", "image_column", "label_column", "split_column")  # of a source, once
_NOTHING: tuple[Any, ...] = (None, (), {})

_source, _stored, _divided, _refused, _run = (partial(declare, section) for section in SECTIONS)


@dataclass(frozen=True)
class SourceOptions:
    """How the source is to be read; paths are relative, which is as dataset.json keeps them."""

    # name -> folder relative to the source; a ? behind the name allows images without a file.
    pairs: Mapping[str, str] = _source(
        kinds.PAIRS,
        "Add the file at the image's path in DIR as member NAME of its sample. NAME?=DIR: "
        "images without the file are accepted.",
        {},
    )
    root: str | None = _source(  # relative to the folder of the table
        kinds.FOLDER, "Folder of the images of a table. Default: the folder of the table."
    )
    image_column: str | None = _source(
        TEXT, "Column of a table with the images. Default: image, path, file, file_name, ..."
    )
    label_column: str | None = _source(
        TEXT,
        "Column of a table with the labels; none: no column. Default: the declared one, "
        "otherwise label, labels, class, cls, category, ...",
    )
    split_column: str | None = _source(
        TEXT, "Column of a table with the splits; none: no column. Default: split."
    )
    kind: str | None = _source(
        one_of(*KINDS),
        "Layout of SRC, required if several fit. Default: detected from its files.",
    )
    class_depth: int | None = _source(  # -1: all; None: one level, unless that is doubtful
        kinds.DEPTH,
        "Levels of folders that name a class; all: each folder with images is a class.",
    )
    label_separator: str | None = _source(
        TEXT,
        "Separator of several labels in one column of a table; none: each image has one label.",
    )
    images: tuple[str, ...] = _source(
        kinds.TEMPLATES,
        "Template for the paths of images: '{split}/{label}/{key}'. May be repeated.",
        (),
    )
    members: Mapping[str, str] = _source(  # a ? in a name allows images without the file
        kinds.MEMBERS,
        "Add a file for every image as member NAME of its sample; TEMPLATE gives its path by "
        "the fields of --images. NAME?: images without the file are accepted.",
        {},
    )
    labels: tuple[str, ...] = _source(
        kinds.LISTS,
        "List in SRC and the fields of its lines: 'list.txt: {key} {label}'. May be repeated.",
        (),
    )
    box_format: str | None = _source(
        one_of(*FORMATS),
        "Format of the boxes of a table. Default: detected from the names of their columns.",
    )
    ignore: tuple[str, ...] = _source(
        kinds.GLOBS,
        "Ignore files and folders that match, relative to SRC: * and ? within a name, ** for "
        "any folders. May be repeated.",
        (),
    )

    @property
    def has_templates(self) -> bool:
        return bool(self.images or self.members or self.labels)

    @property
    def chooses_layout(self) -> bool:
        """Whether an option says what folders and files are, as commands of a refusal do."""
        return bool(self.kind or self.has_templates or self.class_depth or self.pairs)

    @property
    def of_table(self) -> bool:
        others = self.root, self.label_separator, self.box_format
        return any((self.image_column, self.label_column, self.split_column, *others))


class Arrangement(NamedTuple):
    """How samples are divided into splits and shards."""

    split: Mapping[str, float] | None
    stratify: bool
    dedupe: bool
    shard_size: int | None
    shard_samples: int | None
    seed: int | None
    most_bytes: int  # of a sample; larger ones are rejected
    image_bytes: int | None  # of every image, if not what it takes in the source


def _usual_limits() -> "Limits":
    from reader.format import Limits  # with numpy, which --help does without

    return Limits()


@dataclass(frozen=True)
class PackOptions:
    """The options that shape the bytes of shards; dataset.json keeps them."""

    shard_size: int | None = _divided(  # None: see `default_shard_size`
        size(SMALLEST_SHARD),
        "Maximum size of a shard. Default: 1GB, or less (down to 10MB) to make at least 64 shards.",
    )
    shard_samples: int | None = _divided(whole(1), "Maximum number of samples in a shard.")
    seed: int | None = _divided(whole(), "Seed of the shuffle.", 0)  # None keeps the source's order
    jpeg: str = _stored(
        one_of("tiled", "verbatim"),
        "Transcode JPEGs without loss so that crops decode faster, or keep their bytes. "
        "Default: tiled if numba or jpegtran is installed.",
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
        "Store decoded pixels of this size: images are scaled to cover it, and cropped. For "
        "small images.",
    )
    columns: tuple[str, ...] = _stored(
        kinds.COLUMNS,
        "Store values of the samples' JSON in the index, to choose samples by them: fields of a "
        "table, or paths such as size.width.",
        (),
    )
    split: Mapping[str, float] | None = _divided(
        kinds.SHARES,
        "Divide the samples into splits by a hash of their keys. SRC must not have splits.",
    )
    stratify: bool = _divided(FLAG, "Divide each class by the shares of --split.", False)
    dedupe: bool = _source(FLAG, "Skip images with the same bytes as another image.", False)
    source: SourceOptions = field(default_factory=SourceOptions)  # how the source is to be read
    limits: "Limits" = field(default_factory=_usual_limits)  # images beyond them are rejected

    @property
    def policy(self) -> "Policy":
        from packer.images.encode import Policy

        is_tiled, is_banded = self.jpeg == "tiled", self.png == "banded"
        how = self.max_side, self.quality, self.check, self.raw
        return Policy(is_tiled, is_banded, *how, self.limits, self.columns)

    @property
    def planning(self) -> "tuple[SourceOptions, Arrangement, Policy]":
        """Return what a source is planned by."""
        image_bytes = None if self.raw is None else 3 * self.raw[0] * self.raw[1]
        shards = self.shard_size, self.shard_samples, self.seed, self.limits.bytes, image_bytes
        arranged = Arrangement(self.split, self.stratify, self.dedupe, *shards)
        return self.source, arranged, self.policy

    def dump(self) -> dict[str, Any]:
        """Return what dataset.json has; options of later versions only where they are given."""
        content = {n: v for n, v in asdict(self).items() if v or n not in ("stratify", "columns")}
        source = {n: v for n, v in content["source"].items() if n in _FIRST or v not in _NOTHING}
        return dict(json.loads(json.dumps(content | {"source": source})))

    @classmethod
    def load(cls, content: Mapping[str, Any]) -> "PackOptions":
        """Return the options of a dataset.json, which anybody may have written."""
        own = {**content}
        source, limits = own.pop("source"), own.pop("limits")
        if not (isinstance(source, Mapping) and isinstance(limits, Mapping)):
            raise TypeError
        given: dict[str, Any] = {"kind": PYTHON} if source.get("kind") == PYTHON else {}
        given |= _loaded({name: value for name, value in source.items() if name not in given})
        limits = replace(_usual_limits(), **{n: whole(1).check(v) for n, v in limits.items()})
        return cls(**_loaded(own), source=SourceOptions(**given), limits=limits)


def _loaded(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: OPTIONS[name].kind.load(value) for name, value in content.items()}


@dataclass(frozen=True)
class RunOptions:
    """Options that shape no bytes, and `shuffle` and limits as people give them."""

    classes: tuple[str, ...] | str | None = _source(
        kinds.CLASSES,
        "File of class names in label order, one per line; numeric: classes that are numbers, in "
        "their order. Default: sorted as text.",
    )
    keys_of: Path | str | None = _source(  # noqa: RUF009
        kinds.DATASET,
        "Pack further members for the samples of DATASET, for reader.Dataset(..., join=DST). SRC "
        "is a table with a column of their keys or image names, or a folder of files named by "
        "key: cat/0001.npy.",
    )
    shuffle: bool = _divided(FLAG, "Shuffle the samples.", True)  # False: there is no seed
    on_error: str = _refused(
        one_of("stop", "skip"),
        "If files are rejected: commit nothing (stop), or pack the others (skip). All rejected "
        "files are listed.",
        "stop",
    )
    max_pixels: int | None = _refused(
        whole(1), "Maximum pixels of an image. Default: 268435456 (2^28)."
    )
    max_bytes: int | None = _refused(
        size(), "Maximum size of an image and its members. Default: 1GiB."
    )
    jobs: int = _run(
        *(whole(1), "Number of processes. Default: the usable cores."),
        make=usable_cores,
        aliases=("-j",),
    )
    executor: "Executor | str | None" = _run(  # noqa: RUF009
        kinds.ENGINE,
        "Where to pack shards: in processes of this machine, or on the cluster at an address. "
        "Default: local.",
    )
    part: Part | None = _run(  # noqa: RUF009
        kinds.PART,
        "Write one of N parts, with one command on each machine. To commit all parts, run the "
        "command without --part. slurm: the part of this task of a job array.",
    )
    scratch: Path | None = _run(  # noqa: RUF009
        kinds.NEW_FOLDER,
        "Folder for files fetched from SRC if it is a URL, and for shards to upload if DST is "
        "a URL.",
    )
    append: bool = _run(FLAG, "Add new samples of SRC to the dataset at DST.", False)
    overwrite: bool = _run(
        FLAG, "Replace the dataset at DST. It is removed before the new one is packed.", False
    )
    progress: bool = declare("", FLAG, "", True)  # no command's


OPTIONS = {
    one.name: Option(one.name, **one.metadata)
    for declaring in (SourceOptions, PackOptions, RunOptions)
    for one in fields(declaring)
    if one.metadata
}


def by_name(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `PackOptions.dump` gave in one mapping: source and limits among the others."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        is_group = name in ("source", "limits") and isinstance(value, Mapping)
        found |= value if is_group else {name: value}
    return found
