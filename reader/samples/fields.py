"""What a batch consists of beside the image: the members of a sample, decoded by their extension.

A field is written as a name: ``image``, ``label``, ``key``, ``index``, ``valid``, or a member's
extension (``json``, ``mask.png``, ...). A ``?`` behind an extension gives None for a sample that
has no such member. `Mask` and `Boxes` say more about a member that belongs to the image's geometry;
their extension may end in ``?`` as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.decode.plan import View
from reader.errors import ArgumentError
from reader.format.members import DECODERS, kind_of, picture_format

BUILT_IN = ("image", "label", "index", "valid", "key")
PHOTOGRAPHS = ("jpg", "webp")  # resized smoothly, as the image is; other pictures hold classes

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
    """

    member: str
    fill: int = 0


@dataclass(frozen=True)
class Boxes:
    """The boxes of a JSON member, in pixels of the image as it is stored.

    They go through the image's transforms, are clipped to what is seen of the image, and those
    with a side below `min_size` are dropped (torchvision's SanitizeBoundingBoxes). The field is a
    dict, as torchvision's detection models want it: ``boxes``, float32 (N, 4) in the same format
    and in pixels of the output; ``kept``, int64 (N,), which of the member's boxes these are; and
    ``labels``, int64 (N,), if there is a path to them.

    Attributes:
        member: its extension.
        path: where the boxes are: names with dots between, ``*`` for each entry of a list. COCO's
            annotations of an image are ``path="*.bbox", labels="*.category_id"``.
        format: "xyxy", "xywh" or "cxcywh".
        labels: path of as many whole numbers.
        min_size: pixels.
    """

    member: str
    path: str = "boxes"
    format: str = "xyxy"
    labels: str | None = None
    min_size: float = 1.0

    def __post_init__(self) -> None:
        if self.format not in _FORMATS:
            raise ArgumentError(f"{self}: format is one of {', '.join(_FORMATS)}.")

    def place(self, content: Any, view: View) -> dict[str, NDArray[Any]]:
        """The boxes of a parsed member as `view` shows them.

        Raises:
            ValueError: there are no boxes, or not as many labels, at the paths.
        """
        given = _rows_of_four(_at(content, self.path), self.path)
        into, back = _FORMATS[self.format]
        corners = given @ into
        first, second = view.carry(corners[:, :2]), view.carry(corners[:, 2:])
        top, left, height, width = view.target
        edges = (left, top), (left + width, top + height)
        low = np.minimum(first, second).clip(*edges)  # a flip swaps the corners
        high = np.maximum(first, second).clip(*edges)
        kept = np.flatnonzero(((high - low) >= self.min_size).all(axis=1))
        placed: dict[str, NDArray[Any]] = {
            "boxes": (np.hstack([low, high])[kept] @ back).astype(np.float32),
            "kept": kept.astype(np.int64),
        }
        if self.labels is not None:
            labels = np.asarray(_at(content, self.labels), np.int64)
            if labels.shape != (len(given),):
                raise ValueError(f"there are {labels.size} {self.labels} for {len(given)} boxes")
            placed["labels"] = labels[kept]
        return placed


def _rows_of_four(found: Any, path: str) -> NDArray[np.float64]:
    """An array (N, 4) of what lies at `path`."""
    try:
        rows = np.asarray(found, np.float64)
        return rows.reshape(len(rows), 4)
    except (TypeError, ValueError):
        raise ValueError(f"at {path!r} are no rows of four numbers") from None


# Rows of four numbers times the first matrix are corners x, y, x, y; times the second, back again.
_CORNERS_OF = {
    "xyxy": np.eye(4),
    "xywh": np.array([[1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]], np.float64),
    "cxcywh": np.array([[1, 0, 1, 0], [0, 1, 0, 1], [-0.5, 0, 0.5, 0], [0, -0.5, 0, 0.5]]),
}
_FORMATS = {name: (into, np.linalg.inv(into)) for name, into in _CORNERS_OF.items()}

Field = str | Mask | Boxes


@dataclass(frozen=True)
class Member:
    """A field that is read from a member.

    Attributes:
        name: the field's, in the dict of a sample.
        ext: the member's extension.
        field: as the user wrote it.
        decode: from its bytes; None for a picture, which the image's geometry decodes.
        is_optional: None where a sample has no such member.
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


def parse_fields(
    fields: Sequence[Field], decoders: Mapping[str, Decode], known: Sequence[str]
) -> tuple[Member, ...]:
    """The members among `fields`, whose other names must be `BUILT_IN`.

    Args:
        decoders: the user's own, by extension.
        known: extensions that the data set has.

    Raises:
        ArgumentError: there is no such field, or it is no field.
    """
    if isinstance(fields, str) or not isinstance(fields, Sequence) or not fields:
        raise ArgumentError(
            f'fields is a sequence of names, such as ("image", "label"), not {fields!r:.200}.'
        )
    if wrong := [field for field in fields if not isinstance(field, (str, Mask, Boxes))]:
        raise ArgumentError(f"A field is a name, a Mask or Boxes, not {wrong[0]!r}.")
    decoded = [_extension(f) for f in fields if f not in BUILT_IN and not isinstance(f, Mask)]
    if unused := [ext for ext in decoders if ext not in decoded]:
        raise ArgumentError(
            f"There is a decoder for {unused[0]!r}, which is not among the fields' extensions."
        )
    if twice := [name for name in map(name_of, fields) if [*map(name_of, fields)].count(name) > 1]:
        raise ArgumentError(f"Two fields are named {twice[0]!r}.")
    return tuple(_member(f, decoders, known) for f in fields if f not in BUILT_IN)


def name_of(field: Field) -> str:
    """The field's name in the dict of a sample."""
    return "boxes" if isinstance(field, Boxes) else _extension(field)


def _member(field: Field, decoders: Mapping[str, Decode], known: Sequence[str]) -> Member:
    ext = _extension(field)
    if ext in BUILT_IN:
        raise ArgumentError(f"Every sample has {ext!r}: write it without a question mark.")
    is_optional = _written(field).endswith("?")
    if ext not in known and not is_optional:
        raise ArgumentError(
            f"There is no field {ext!r}: there are {', '.join(dict.fromkeys((*BUILT_IN, *known)))}."
        )
    if isinstance(field, Mask) or (ext not in decoders and picture_format(ext)):
        return Member(ext, ext, field, None, is_optional, is_learnt=not is_optional)
    kind = "json" if isinstance(field, Boxes) else kind_of(ext)
    decode = decoders.get(ext) or DECODERS.get(kind, bytes)
    is_array = kind == "npy" or ext in decoders
    return Member(name_of(field), ext, field, decode, is_optional, is_array and not is_optional)


def _extension(field: Field) -> str:
    return _written(field).removesuffix("?")


def _written(field: Field) -> str:
    return field if isinstance(field, str) else field.member


def _at(content: Any, path: str) -> Any:
    """What lies at `path` in parsed JSON."""
    step, _, rest = path.partition(".")
    if step == "*":
        return [_at(entry, rest) if rest else entry for entry in content]
    try:
        found = content[step]
    except (KeyError, TypeError):
        raise ValueError(f"it has nothing at {path!r}") from None
    return _at(found, rest) if rest else found
