"""dataset.json: the description of the dataset, without its samples."""

import contextlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, reduce
from itertools import starmap
from operator import itemgetter, or_
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from reader.format import tar
from reader.format.checksum import checksum_of
from reader.format.errors import FormatError
from reader.format.files import open_regular
from reader.format.mask_colors import MaskColors
from reader.format.mistaken import why_no_dataset
from reader.format.sizes import SizeBounds

FILENAME = "dataset.json"
JOINED = "shards.index"
VERSION = 1
KIND = "shardfeed"
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_TAR = re.compile(r"[^/]\.tar$")
MAX_BYTES = 1 << 28  # enough for a million shards, or classes with long names

_Kind = TypeVar("_Kind", "BoxEncoding", "MaskColors", "SizeBounds", "Manifest")
_KINDS: dict[str, type] = {"packer": str, "options": dict, "source": str, "reading": str}
_KINDS |= {"rejected": int, "transcoders": dict, "rejections": dict, "boxes": dict}
_KINDS |= {"joined": bool, "images": bool, "mask_colors": dict, "dropped": dict, "sizes": dict}


@dataclass(frozen=True)
class ShardEntry:
    """A shard: its tar, relative to dataset.json, and its expected sizes and checksums."""

    file: str
    split: str
    samples: int
    bytes: int
    checksum: str
    index_bytes: int
    index_checksum: str

    @property
    def index(self) -> str:
        """The name of the index, relative to dataset.json."""
        return self.file.removesuffix(".tar") + ".safetensors"


@dataclass(frozen=True)
class BoxEncoding:
    """The encoding of boxes in the members of one extension."""

    format: str  # "xyxy", "xywh" or "cxcywh"
    normalized: bool | None = False  # fractions of the image's size, not pixels; None: unknown
    path: str = "boxes"  # name of the list of boxes in JSON, or in a decoder's result
    labels: str | None = None  # name of the list of class numbers; None: unknown, or none
    keypoints: Sequence[str] = ()  # names of the key points of each object; none: unknown, or none

    def __post_init__(self) -> None:
        object.__setattr__(self, "keypoints", tuple(self.keypoints))
        texts = self.format, self.path, self.labels or "", *self.keypoints
        is_flag = self.normalized is None or type(self.normalized) is bool
        if not is_flag or not all(type(text) is str for text in texts):
            raise ValueError("boxes has an entry that does not describe boxes")


@dataclass(frozen=True)
class Manifest:
    """The content of a dataset.json."""

    packer: str  # version of the packer that wrote it
    options: Mapping[str, Any]  # that determine the shards' bytes; empty for tars of other tools
    source: str  # fingerprint of the list of source files
    classes: tuple[str, ...]  # class names in label order; empty without labels
    fields: tuple[str, ...]  # extensions of the samples' members
    shards: tuple[ShardEntry, ...]  # in the order that numbers the samples
    rejected: int = 0  # number of source files that are not in the dataset; indexes list them
    reading: str = ""  # the packer's interpretation of the source, as a sentence, or empty
    transcoders: Mapping[str, str] = field(default_factory=dict)  # versions
    # Files that no index lists: ``reasons``, the number of files by reason, and ``files``, the
    # first thousand as ``[name, reason]``; empty for none.
    rejections: Mapping[str, Any] = field(default_factory=dict)
    boxes: Mapping[str, BoxEncoding] = field(default_factory=dict)  # by extension
    mask_colors: Mapping[str, MaskColors] = field(default_factory=dict)  # likewise
    joined: bool = False  # whether `JOINED` holds the indexes of all shards back to back
    images: bool = True  # False: the samples are those of another dataset, which has the images
    # Images by what they have and no reader shows, such as "3 pages; the first is used".
    dropped: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, SizeBounds] = field(default_factory=dict)  # of the images, by split
    version: int = field(default=VERSION)

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits in order of their shards; ``""`` is a dataset without splits."""
        return tuple(dict.fromkeys(shard.split for shard in self.shards))

    @property
    def known_splits(self) -> str:
        """The splits of the dataset, to end a sentence about an unknown one."""
        has = f"it has {', '.join(map(repr, self.splits))}"
        if not any(self.splits):
            has = "it is not divided into splits; leave split= out to read all of it"
        if len(self.splits) > 1:
            return has
        return f"{has}. To divide a source, pack it with `--split train=0.9,val=0.1`"

    @property
    def split_samples(self) -> dict[str, int]:
        """Return the number of samples of each split."""
        found = dict.fromkeys(self.splits, 0)
        for shard in self.shards:
            found[shard.split] += shard.samples
        return found

    def size_bounds(self, split: str | None) -> SizeBounds | None:
        """Return the bounds of a split's images, or of all for None; None if they are unknown."""
        splits = {s.split for s in self.shards if s.samples and split in (None, s.split)}
        if not splits or not splits <= self.sizes.keys():
            return None
        return reduce(or_, map(self.sizes.__getitem__, splits))

    @property
    def packed_since(self) -> set[tuple[str, str]]:
        """The (file, reason) pairs of indexes whose files an append has packed since."""
        return {(name, reason) for name, reason in self.rejections.get("packed", ())}

    @property
    def external(self) -> bool:
        """Whether other tools made the tars, so that their members' order and headers vary."""
        return not self.options

    def check_images(self, place: object) -> None:
        """Raise FormatError if the dataset at `place` has no images."""
        if not self.images:
            raise FormatError(
                f"{place} has no images: it has members for the samples of another dataset, "
                "DATASET. Pass DATASET instead. To read both in Python, write "
                f'reader.Dataset("DATASET", join="{place}").'
            )

    def dump(self) -> str:
        """Return the JSON, with its checksum."""
        content = {"format": KIND, **asdict(self)}
        for name in ("rejections", "boxes", "mask_colors", "joined", "dropped", "sizes"):
            if not content[name]:
                del content[name]  # as in datasets of earlier versions
        if self.images:
            del content["images"]
        for encoding in content.get("boxes", {}).values():
            if not encoding["keypoints"]:
                del encoding["keypoints"]
        return json.dumps({**content, "checksum": own_checksum(content)}, indent=1) + "\n"

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "Manifest":
        """Read the manifest of a dataset.

        Raises:
            FormatError: it is missing or damaged.
        """
        folder = Path(folder)
        path = folder / FILENAME
        try:
            return cls.parse(_content(path), path)
        except (FileNotFoundError, NotADirectoryError):
            raise FormatError(_why_missing(folder)) from None
        except OSError as error:
            raise FormatError(f"{path} cannot be read: {error.strerror}.") from error

    @classmethod
    def parse(cls, text: bytes, path: Path | str) -> "Manifest":
        """Read the text of a dataset.json; `path` (or its URL) is for errors."""
        try:
            content = json.loads(text.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path} is damaged: {error}. Restore it or pack again.") from error
        if not isinstance(content, dict) or content.get("format") != KIND:
            raise FormatError(f"{path} is not a dataset.json that packer wrote.")
        if content.get("version") != VERSION:
            raise FormatError(
                f"{path} has version {content.get('version')}; this reader supports {VERSION}. "
                "Use the release of shardfeed that packed the dataset, or pack it again."
            )
        try:
            if content.pop("checksum", None) != own_checksum(content):
                raise ValueError("its content does not match its checksum")
            del content["format"]
            least = tar.BLOCK if content.get("images", True) else 0  # bytes of a sample
            shards = _shards(content.pop("shards"), least)
            for split in {shard.split for shard in shards}:
                if not is_inside(split):  # `packer pack --overwrite` removes shards from its folder
                    raise ValueError(f"{split!r} is not the name of a split inside the dataset")
            _check_distinct(shards)
            if sum(shard.samples for shard in shards) >= 2**63:
                raise ValueError("its shards have more samples than can be counted")
            for name in ("classes", "fields"):
                if not isinstance(content[name], list):
                    raise ValueError(f"{name} is not a list")
                content[name] = tuple(map(str, content[name]))
            for name, kind in _KINDS.items():
                if name in content and type(content[name]) is not kind:
                    raise ValueError(f"{name} is not {kind.__name__}")
            _check_rejections(content.get("rejections", {}))
            if any(type(count) is not int for count in content.get("dropped", {}).values()):
                raise ValueError("dropped has counts that are not numbers of images")
            boxes = content.get("boxes", {}).items()
            content["boxes"] = {ext: _known(BoxEncoding, entry) for ext, entry in boxes}
            masks = content.get("mask_colors", {}).items()
            content["mask_colors"] = {ext: _known(MaskColors, entry) for ext, entry in masks}
            sizes = content.get("sizes", {}).items()
            content["sizes"] = {split: _known(SizeBounds, entry) for split, entry in sizes}
            return _known(cls, {**content, "shards": shards})
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"{path} is damaged: {error}. Restore it or pack again.") from error


def _content(path: Path) -> bytes:
    with open(open_regular(path), "rb") as file:
        if os.fstat(file.fileno()).st_size > MAX_BYTES:
            raise FormatError(
                f"{path} has more than {MAX_BYTES} bytes, the limit of the format. Restore it."
            )
        return file.read()


def _why_missing(folder: Path) -> str:
    whole, name = folder.absolute().parent, folder.absolute().name
    with contextlib.suppress(OSError, FormatError):
        path = whole / FILENAME
        if folder.is_dir() and name in Manifest.parse(_content(path), path).splits:
            return (
                f"{folder} is not a dataset, but a split of {whole}. Open that folder; in Python, "
                f'write reader.Dataset({str(whole)!r}, "{name}").'
            )
    return why_no_dataset(folder, FILENAME)


def own_checksum(content: Mapping[str, Any]) -> str:
    """Return the ``checksum`` of the other content, independent of the file's layout."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return checksum_of(canonical)


def _check_rejections(found: dict[str, Any]) -> None:
    reasons = found.get("reasons", {})
    if not isinstance(reasons, dict) or any(type(count) is not int for count in reasons.values()):
        raise ValueError("rejections has reasons that are not numbers of files")
    for files in (found.get("files", []), found.get("packed", [])):
        if not isinstance(files, list) or not all(
            isinstance(item, list) and [type(text) for text in item] == [str, str] for item in files
        ):
            raise ValueError("rejections has files that are not names with reasons")


def _known(kind: type[_Kind], content: Mapping[str, Any]) -> _Kind:
    names = kind.__dataclass_fields__.keys()
    if not set(content) <= names:
        content = {name: content[name] for name in names if name in content}
    return kind(**content)


def _shards(entries: list[dict[str, Any]], least: int) -> tuple[ShardEntry, ...]:
    kinds = ShardEntry.__annotations__
    rows = list(map(itemgetter(*kinds), entries))
    for at, (name, kind) in enumerate(kinds.items()):
        if {type(row[at]) for row in rows} - {kind}:
            raise ValueError(f"{name} of a shard is not {kind.__name__}")
    for file, _, samples, size, _, index_size, _ in rows:
        if not is_inside(file) or not _TAR.search(file):
            raise ValueError(f"{file!r} is not the name of a shard inside the dataset")
        if samples < 0 or size < 0 or index_size < 0:
            raise ValueError(f"{file} has a negative size")
        if size >= 2**63 or index_size >= 2**63 or samples * least > size:
            raise ValueError(f"{file} cannot hold {samples} samples in {size} bytes")
    return tuple(starmap(ShardEntry, rows))


def _check_distinct(shards: Iterable[ShardEntry]) -> None:
    names: set[str] = set()
    tars: set[tuple[str, str]] = set()
    for shard in shards:
        name = shard.file
        if "//" in name or "./" in name:
            name = str(PurePosixPath(name))
        # A file system may treat both as one name; different tars differ when opened.
        folded = name.casefold()
        folded = folded if folded.isascii() else unicodedata.normalize("NFC", folded)
        alike = folded, shard.checksum
        if name in names or alike in tars:
            raise ValueError(f"it lists the shard {shard.file!r} twice")
        names.add(name)
        tars.add(alike)


def is_inside(name: str) -> bool:
    """Whether `name` is valid for a file or folder inside the dataset."""
    os.fsencode(name)
    # NUL ends a name, and other control characters would reach the terminal.
    return not (name.startswith("/") or ".." in name.split("/") or CONTROL.search(name))
