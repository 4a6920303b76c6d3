"""What a batch consists of beside the image: the members of a sample, decoded by their extension.

A field is written as a name: ``image``, ``label``, ``index``, ``valid``, ``key``, ``name`` (the
path in the source), ``size`` (height and width of the upright source), or a member's extension
(``json``, ``mask.png``, ...). `Member` brings a decoder of one's own; `Mask` and `Boxes` say more
about a member that belongs to the image's geometry. A ``?`` behind an extension gives None for a
sample that has no such member, or no boxes.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from reader.checks import FUNCTION, TEXT, check, is_integer
from reader.errors import ArgumentError
from reader.format.manifest import BoxEncoding
from reader.format.members import DECODERS, kind_of, picture_format
from reader.samples.boxes import Boxes, parse_lines

BUILT_IN = ("image", "label", "index", "valid", "key", "name", "size")
PHOTOGRAPHS = ("jpg", "webp")  # resized smoothly, as the image is; others may hold classes

# In the names of pictures that hold values, in whatever colours these are written.
_VALUES = re.compile("mask|seg|label|depth|panoptic|instance|ids?$|gt$", re.IGNORECASE)

Decode = Callable[[bytes], Any]


@dataclass(frozen=True)
class Mask:
    """A picture whose pixels are classes, in the coordinates of the image as it is stored.

    It goes through the image's transforms without mixing values (nearest pixel) and arrives as
    (height, width), or (height, width, channels), in the type it is stored in; of a palette come
    the indices. The field ``"mask.png"`` is short for ``Mask("mask.png")``.

    Attributes:
        member: its extension.
        fill: the value outside the source, where a crop or Letterbox pads.

    Example:
        >>> with reader.Loader(
        ...     "segmentation",
        ...     split="train",
        ...     batch_size=4,
        ...     transforms=[reader.Letterbox(96)],
        ...     fields=("image", reader.Mask("mask.png", fill=255)),
        ... ) as loader:
        ...     images, masks = next(iter(loader))
        >>> masks.shape, masks.dtype, int(masks[0, 0, 0])
        (torch.Size([4, 96, 96]), torch.uint8, 255)
    """

    __module__ = "reader"

    member: str
    fill: int = 0

    def __post_init__(self) -> None:
        check(vars(self), {"member": TEXT, "fill": (is_integer, "an integer")})


@dataclass(frozen=True)
class Member:
    """A member that a function of your own decodes.

    It arrives as what the function gives: arrays of one type and shape as one tensor (B, ...),
    anything else as a list. Alone, ``"txt"`` is short for ``Member("txt")``.

    Attributes:
        member: its extension. With a ``?`` behind it, a sample without the member has None.
        decode: called in the workers with the member's bytes; None: what the extension stands for.

    Example:
        >>> letters = reader.Member("txt", decode=len)
        >>> with reader.Loader("captions", split="train", fields=(letters,)) as loader:
        ...     [(length,)] = next(iter(loader))
        >>> int(length)  # of the caption, in bytes
        26
    """

    __module__ = "reader"

    member: str
    decode: Decode | None = None

    def __post_init__(self) -> None:
        check(vars(self), {"member": TEXT, "decode": FUNCTION})


Field = str | Mask | Boxes | Member


@dataclass(frozen=True)
class ResolvedField:
    """A field that is read from a member, and how.

    Attributes:
        name: the field's, in the dict of a sample.
        ext: the member's extension.
        field: as the user wrote it; of `Boxes` with what dataset.json records.
        decode: from its bytes; None for a picture, which the image's geometry decodes.
        is_optional: a sample may have no such member: None, or no boxes.
        is_learnt: an array, of which the first sample tells type and shape.
    """

    name: str
    ext: str
    field: Field
    decode: Decode | None
    is_optional: bool
    is_learnt: bool

    @property
    def follows_image(self) -> bool:
        """Whether the image's transforms apply to it."""
        return self.decode is None or isinstance(self.field, Boxes)

    @property
    def is_picture(self) -> bool:
        """Whether it is a further picture, which arrives as the image does if it has colours."""
        if self.decode is not None or isinstance(self.field, Mask):
            return False
        name = self.ext.rpartition(".")[0]
        return picture_format(self.ext) in PHOTOGRAPHS or not _VALUES.search(name)


def parse_fields(
    fields: Sequence[Field],
    known: Sequence[str],
    is_mapped: bool = False,
    boxes: Mapping[str, BoxEncoding] | None = None,
) -> tuple[ResolvedField, ...]:
    """How each of `fields` is read that is not among `BUILT_IN`.

    Args:
        fields: as the user wrote them.
        known: extensions that the dataset has, in whichever of its splits.
        is_mapped: a ``map_sample`` may add what no sample has, under a name with a ``?``.
        boxes: how members hold boxes, by extension, as dataset.json records it.

    Raises:
        ArgumentError: there is no such field, it is not a field, or it contradicts `boxes`.
    """
    if isinstance(fields, str) or not isinstance(fields, Sequence) or not fields:
        raise ArgumentError(
            f'fields is a sequence of names, such as ("image", "label"), not {fields!r:.200}.'
        )
    if wrong := [field for field in fields if not isinstance(field, Field)]:
        raise ArgumentError(f"A field is a name, a Member, a Mask or Boxes, not {wrong[0]!r}.")
    if twice := [name for name in map(name_of, fields) if [*map(name_of, fields)].count(name) > 1]:
        raise ArgumentError(f"Two fields are named {twice[0]!r}.")
    named = [field for field in fields if field not in BUILT_IN]
    return tuple(_resolved(field, known, is_mapped, boxes or {}) for field in named)


def name_of(field: Field) -> str:
    """The field's name in the dict of a sample."""
    return "boxes" if isinstance(field, Boxes) else _extension(field)


def _resolved(
    field: Field, known: Sequence[str], is_mapped: bool, boxes: Mapping[str, BoxEncoding]
) -> ResolvedField:
    ext = _extension(field)
    if ext in BUILT_IN:
        raise ArgumentError(f"Every sample has {ext!r}: write it as a name, without a mark.")
    is_optional = _written(field).endswith("?")
    is_added = is_mapped and is_optional and isinstance(field, str)
    if ext not in known and not is_added:
        alike = [one for one in known if one.startswith(f"{ext}.")]
        if not alike and not is_optional:
            alike = get_close_matches(ext.strip("_"), (*BUILT_IN, *known), 1, cutoff=0.8)
        meant = f"; write {' or '.join(map(repr, alike))}" if alike else ""
        none = "no sample of the dataset has such a member, " if is_optional else ""
        every = ", ".join(dict.fromkeys((*BUILT_IN, *known)))
        raise ArgumentError(f"There is no field {ext!r}{meant}: {none}there are {every}.")
    own = field.decode if isinstance(field, (Boxes, Member)) else None
    kind = kind_of(ext)
    if isinstance(field, Boxes):
        if own is None and (kind == "npy" or picture_format(ext)):
            raise ArgumentError(
                f"Boxes reads JSON, or the lines of a txt, and {ext!r} is neither. Pack boxes as "
                'lists of numbers, which go into "json"; or give Boxes(..., decode=f), and f makes '
                'of its bytes a dict such as {"boxes": rows of four numbers}.'
            )
        decode, field = own or DECODERS["json"], field.resolved(None if own else boxes.get(ext))
        if kind == "txt" and own is None:
            field, decode = replace(field, labels=field.labels or "labels"), parse_lines
        return ResolvedField("boxes", ext, field, decode, is_optional, is_learnt=False)
    if isinstance(field, Mask) or (own is None and picture_format(ext)):
        return ResolvedField(ext, ext, field, None, is_optional, is_learnt=not is_optional)
    is_array = own is not None or kind == "npy"
    decode = own or DECODERS.get(kind, bytes)
    return ResolvedField(ext, ext, field, decode, is_optional, is_array and not is_optional)


def _extension(field: Field) -> str:
    return _written(field).removesuffix("?")


def _written(field: Field) -> str:
    return field if isinstance(field, str) else field.member
