"""Find the fields that a user names, and complete them by what dataset.json records."""

from collections.abc import Sequence
from difflib import get_close_matches

from reader.dataset.dataset import Dataset
from reader.dataset.mix import Mix
from reader.errors import ArgumentError
from reader.fields.built_in import BUILT_IN
from reader.fields.encoded import EncodedImage
from reader.fields.field import Field
from reader.fields.members import JsonValue, Member, MemberField
from reader.fields.pictures import Picture
from reader.format.members import kind_of, picture_format


def parse_fields(
    given: Sequence[str | Field], dataset: Dataset, is_mapped: bool = False, decode: str = "cpu"
) -> tuple[Field, ...]:
    """Return the fields of a loader's arguments.

    With ``map_sample``, a name with a ``?`` may be one that no sample has.
    """
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ArgumentError(
            f'fields is a sequence of names, such as ("image", "label"), not {given!r:.200}.'
        )
    if others := [one for one in given if not isinstance(one, (str, Field))]:
        raise ArgumentError(
            "A field is a name, a reader.Member, Mask, Bands, Boxes, Points or Polygons, not "
            f"{others[0]!r}."
        )
    names = [one.removesuffix("?") if isinstance(one, str) else one.name for one in given]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ArgumentError(f"Two fields are named {twice[0]!r}. Leave one of them out.")
    fields = [_field(one, dataset, is_mapped) for one in given]
    _check_parts(dataset, [field for field in fields if isinstance(field, MemberField)])
    if decode != "cpu":
        if "image" not in names:
            raise ArgumentError(
                f'decode="{decode}" needs the field "image". Add it to fields=, or leave decode= '
                "out."
            )
        fields[names.index("image")] = EncodedImage(decode)
    return tuple(fields)


def _field(given: str | Field, dataset: Dataset, is_mapped: bool) -> Field:
    if isinstance(given, str) and given in BUILT_IN:
        return BUILT_IN[given]
    field = Member(given) if isinstance(given, str) else given
    if isinstance(field, MemberField):
        ext, known = field.ext, dataset.extensions
        owner = max((one for one in known if ext.startswith(f"{one}.")), key=len, default="")
        if isinstance(given, str) and ext not in known and kind_of(owner) == "json":
            return JsonValue(given, owner)
        is_added = is_mapped and field.is_optional and isinstance(given, str)
        if ext in BUILT_IN or (ext not in known and not is_added):
            raise _unknown(field, known, is_name=isinstance(given, str))
        if isinstance(field, Member) and field.decode is None and picture_format(ext):
            field = Picture(field.member)
    return field.resolved(dataset)


def _unknown(field: MemberField, known: Sequence[str], is_name: bool) -> ArgumentError:
    ext, is_optional = field.ext, field.is_optional
    if ext in BUILT_IN:
        return ArgumentError(f"Every sample has {ext!r}: write {ext!r} without a question mark.")
    alike = [one for one in known if one.startswith(f"{ext}.")]
    if not alike and not is_optional:
        alike = get_close_matches(ext.strip("_"), (*BUILT_IN, *known), 1, cutoff=0.8)
    meant = f"; write {' or '.join(map(repr, alike))}" if alike else ""
    none = "no sample of the dataset has such a member, " if is_optional else ""
    every = ", ".join(dict.fromkeys((*BUILT_IN, *known)))
    is_value = not alike and is_name and "json" in known
    value = f' For a value of the JSON, write "json.{ext}".' if is_value else ""
    return ArgumentError(f"There is no field {ext!r}{meant}: {none}there are {every}.{value}")


def _check_parts(dataset: Dataset, fields: Sequence[MemberField]) -> None:
    """See that the datasets of a Mix have the members that all samples are to have, held alike."""
    for part in dataset.parts if isinstance(dataset, Mix) else ():
        _check_parts(part, fields)
        for field in fields:
            field.check_part(part, dataset)
