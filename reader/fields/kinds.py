"""The kinds of fields that members have: how each is read, and its column in a batch.

To add a kind, write a class for the field with its `member`, resolve it to a `ResolvedField`, and
register both in `KINDS`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from numpy.typing import NDArray

from reader.errors import ArgumentError
from reader.fields.boxes import Boxes
from reader.fields.column import Column
from reader.fields.field import (
    BUILT_IN,
    Bands,
    Field,
    Mask,
    Member,
    ResolvedField,
    name_of,
    written,
)
from reader.fields.member import ArrayColumn, BandsColumn, MaskColumn, MemberColumn, NumbersColumn
from reader.fields.members import (
    BandsField,
    DecodedField,
    JsonField,
    OverlayField,
    PictureField,
)
from reader.fields.overlays import Overlay
from reader.fields.points import Points
from reader.fields.polygons import Polygons
from reader.fields.values import PictureForm
from reader.format.manifest import BoxEncoding
from reader.format.mask_colors import MaskColors
from reader.format.members import DECODERS, kind_of, picture_format


@dataclass(frozen=True)
class Seen:
    name: str  # the column's
    member: ResolvedField
    form: PictureForm | None  # its form, if it is a picture that may be in colour
    array: NDArray[Any] | None  # its value in the first sample, if that determines the array
    # (height, width) of the largest image, and of all of them if `is_one_size`
    room: tuple[int, int]
    is_one_size: bool


def member_column(seen: Seen) -> Column:
    """Return a column for arrays like the first sample's, or up to the largest image's size."""
    if seen.array is None:
        return MemberColumn(seen.name, form=seen.form)
    if isinstance(seen.member, JsonField):
        return NumbersColumn(seen.name, dtype=seen.array.dtype.str, shape=seen.array.shape)
    kind, shape = seen.array.dtype.str, seen.array.shape
    if not seen.member.follows_image:
        return ArrayColumn(seen.name, False, seen.form, kind, shape)
    shape = (*seen.room, *shape[2:])
    return MaskColumn(seen.name, False, seen.form, kind, shape, not seen.is_one_size)


Recorded = BoxEncoding | MaskColors  # what dataset.json says of a member


class Kind(NamedTuple):
    resolve: Callable[[Any, str, bool, Recorded | None], ResolvedField]
    column: Callable[[Seen], Column] = member_column


def _member(
    field: str | Member, ext: str, is_optional: bool, known: Recorded | None
) -> ResolvedField:
    own = field.decode if isinstance(field, Member) else None
    if own is None and picture_format(ext):
        return _picture(field, ext, is_optional, known)
    is_array = own is not None or kind_of(ext) == "npy"
    decode = own or DECODERS.get(kind_of(ext), bytes)
    return DecodedField(field, ext, ext, is_optional, is_array and not is_optional, decode)


def _bands(field: Bands, ext: str, is_optional: bool, _: Recorded | None) -> ResolvedField:
    if field.decode is None and kind_of(ext) != "npy":
        raise ArgumentError(
            f"Bands reads arrays (.npy), not {ext!r}. Give Bands(..., decode=f), where f returns "
            "the array for the member's bytes."
        )
    decode = field.decode or DECODERS["npy"]
    return BandsField(field, ext, ext, is_optional, not is_optional, decode)


def _bands_column(seen: Seen) -> Column:
    if seen.array is None:
        return MemberColumn(seen.name)
    kind, shape = seen.array.dtype.str, (len(seen.array), *seen.room)
    return BandsColumn(seen.name, False, None, kind, shape, not seen.is_one_size)


def _picture(field: Field, ext: str, is_optional: bool, known: Recorded | None) -> ResolvedField:
    colors = known if isinstance(known, MaskColors) else None
    if isinstance(field, Mask):
        colors = field.parsed or colors
        if field.ignore is not None and colors is None:
            raise ArgumentError(
                f"ignore= is for masks coded by colour, and dataset.json has no colours of .{ext}. "
                f'Give them: reader.Mask("{ext}", colors=[(0, 0, 0), (128, 0, 0)], ignore=...), or '
                'a file, colors="class_dict.csv".'
            )
    return PictureField(field, ext, ext, is_optional, not is_optional, colors)


def _overlay(field: Overlay, ext: str, is_optional: bool, known: Recorded | None) -> ResolvedField:
    known = known if isinstance(known, BoxEncoding) else None
    own, kind, what = field.decode, kind_of(ext), type(field).__name__
    path = field.path or field.name
    if own is None and (kind == "npy" or picture_format(ext)):
        raise ArgumentError(
            f"{what} reads JSON or the lines of a txt, not {ext!r}. Pack {field.name} as lists of "
            f'numbers, which become "json"; or give {what}(..., decode=f), where f returns a dict '
            f'such as {{"{path}": rows of numbers}} for the member\'s bytes.'
        )
    decode = own or (field.parse_lines if kind == "txt" else DECODERS["json"])
    resolved = field.resolved(None if own else known)
    are_classes = own is None and known is not None and resolved.labels == known.labels is not None
    return OverlayField(
        resolved, field.name, ext, is_optional, decode=decode, are_classes=are_classes
    )


KINDS: dict[type, Kind] = {
    str: Kind(_member),
    Member: Kind(_member),
    Mask: Kind(_picture),
    Bands: Kind(_bands, _bands_column),
    **dict.fromkeys((Boxes, Points, Polygons), Kind(_overlay)),
}


def kind_for(field: object) -> Kind:
    for base, kind in KINDS.items():
        if isinstance(field, base):
            return kind
    raise ArgumentError(
        "A field is a name, a reader.Member, Mask, Bands, Boxes, Points or Polygons, not "
        f"{field!r}."
    )


def parse_fields(
    fields: Sequence[Field],
    known: Sequence[str],
    is_mapped: bool = False,
    recorded: Mapping[str, Recorded] | None = None,
) -> tuple[ResolvedField, ...]:
    """Return the resolved `fields` that are not among `BUILT_IN`.

    `known` are the extensions of all splits. With ``map_sample``, a name with a ``?`` may be one
    that no sample has. `recorded` is what dataset.json says of members, by extension.
    """
    if isinstance(fields, str) or not isinstance(fields, Sequence) or not fields:
        raise ArgumentError(
            f'fields is a sequence of names, such as ("image", "label"), not {fields!r:.200}.'
        )
    for field in fields:
        kind_for(field)
    names = list(map(name_of, fields))
    if twice := [name for name in names if names.count(name) > 1]:
        raise ArgumentError(f"Two fields are named {twice[0]!r}. Leave one of them out.")
    named = [field for field in fields if field not in BUILT_IN]
    return tuple(_resolved(field, known, is_mapped, recorded or {}) for field in named)


def _resolved(
    field: Field, known: Sequence[str], is_mapped: bool, recorded: Mapping[str, Recorded]
) -> ResolvedField:
    ext, is_optional = written(field).removesuffix("?"), written(field).endswith("?")
    if ext in BUILT_IN:
        raise ArgumentError(f"Every sample has {ext!r}: write {ext!r} without a question mark.")
    owner = max((one for one in known if ext.startswith(f"{one}.")), key=len, default="")
    if isinstance(field, str) and ext not in known and kind_of(owner) == "json":
        return JsonField(field, ext, owner, is_optional, path=ext.removeprefix(f"{owner}."))
    is_added = is_mapped and is_optional and isinstance(field, str)
    if ext not in known and not is_added:
        alike = [one for one in known if one.startswith(f"{ext}.")]
        if not alike and not is_optional:
            alike = get_close_matches(ext.strip("_"), (*BUILT_IN, *known), 1, cutoff=0.8)
        meant = f"; write {' or '.join(map(repr, alike))}" if alike else ""
        none = "no sample of the dataset has such a member, " if is_optional else ""
        every = ", ".join(dict.fromkeys((*BUILT_IN, *known)))
        is_value = not alike and isinstance(field, str) and "json" in known
        value = f' For a value of the JSON, write "json.{ext}".' if is_value else ""
        raise ArgumentError(f"There is no field {ext!r}{meant}: {none}there are {every}.{value}")
    return kind_for(field).resolve(field, ext, is_optional, recorded.get(ext))
