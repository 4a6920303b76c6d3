"""The fields of a sample: a name of `BUILT_IN`, or a member by its extension (``mask.png``).

`Member` has a user's decoder; `Mask`, `Bands`, `Boxes`, `Points` and `Polygons` describe a member
that is transformed with the image. A ``?`` after an extension gives None for a sample without the
member.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from reader.checks import FUNCTION, TEXT, Rule, check, is_integer, is_number, or_none
from reader.errors import ArgumentError
from reader.fields.overlays import Overlay
from reader.format import MaskColors
from reader.format.files import open_regular
from reader.format.mask_colors import MOST_BYTES

if TYPE_CHECKING:
    from reader.decode.decoder import Decoder
    from reader.fields.pixels import Planned

BUILT_IN = ("image", "label", "index", "valid", "key", "name", "size", "geometry", "source")
PHOTOGRAPHS = ("jpg", "webp")  # resized smoothly, like the image; others may hold classes

Decode = Callable[[bytes], Any]
Colors = Sequence[Sequence[int]] | str | os.PathLike[str]

_OF_MASK: dict[str, Rule] = {
    "member": TEXT,
    "fill": (is_integer, "an integer"),
    "colors": (
        or_none(lambda given: isinstance(given, (Sequence, os.PathLike))),
        "a list of colours (red, green, blue), or the path of a file that has them",
    ),
    "ignore": (or_none(lambda given: is_integer(given) and 0 <= given <= 255), "from 0 to 255"),
}

_OF_BANDS: dict[str, Rule] = {
    "member": TEXT,
    "interpolation": (lambda given: given in ("nearest", "bilinear"), '"nearest" or "bilinear"'),
    "fill": (is_number, "a number"),
    "decode": FUNCTION,
}


def _parsed(colors: Colors) -> MaskColors:
    try:
        if not isinstance(colors, (str, os.PathLike)):
            return MaskColors(tuple(tuple(map(index, color)) for color in colors))
        with open(open_regular(Path(colors)), "rb") as file:
            return MaskColors.parse(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise ArgumentError(f"colors={str(colors)!r} cannot be read: {error.strerror}.") from error
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"colors={str(colors)[:80]!r}: {error}. Give [(red, green, blue), ...] in the order of "
            "the class numbers, or a file with a line name,r,g,b for each."
        ) from error


@dataclass(frozen=True)
class Mask:
    """A picture whose pixels are classes, in the coordinates of the stored image.

    It is transformed with the image, by nearest pixel, so that values are not mixed. It is
    delivered as (height, width) or (height, width, channels), in its stored type; a palette image
    as indices. If its classes are coded by colour and the colours are known, it is delivered as
    (height, width) class numbers, uint8. The field ``"mask.png"`` is short for
    ``Mask("mask.png")``.

    Attributes:
        member: its extension.
        fill: value of the padding of a crop or Letterbox.
        colors: the colour of each class, (red, green, blue), in the order of the class numbers; or
            the path of a file that has them, such as class_dict.csv or label_colors.txt: each line
            has a name and three numbers, in either order. At most 256. None: those in
            dataset.json, where packer records the colours that it finds.
        ignore: class number of all pixels of other colours; None: such a mask is an error.

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
    colors: Colors | None = None
    ignore: int | None = None
    parsed: MaskColors | None = dataclass_field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        check(vars(self), _OF_MASK)
        if self.colors is not None:
            object.__setattr__(self, "parsed", _parsed(self.colors))


@dataclass(frozen=True)
class Member:
    """A member that your own function decodes.

    Arrays of one type and shape become one tensor (B, ...), anything else a list. The field
    ``"txt"`` is short for ``Member("txt")``.

    Attributes:
        member: its extension. With a final ``?``, a sample without the member has None.
        decode: called in the workers with the member's bytes; None: by the extension.

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


@dataclass(frozen=True)
class Bands:
    """An array over the image, such as the bands of a satellite, delivered as (bands, H, W).

    The member is an array (height, width) or (height, width, bands) in the coordinates of the
    stored image, of any type of numbers, which is kept. It is transformed with the image.

    Attributes:
        member: its extension, such as ``"npy"``. With a final ``?``, a sample without it has None.
        interpolation: "nearest", which does not mix values, or "bilinear" as Pillow has it,
            computed in float32.
        fill: value of the padding of a crop or Letterbox.
        decode: returns the array for the member's bytes; None: a ``.npy``.

    Example:
        >>> with packer.Writer("satellite", progress=False) as writer:
        ...     for number in range(4):
        ...         picture = np.zeros((40, 60, 3), np.uint8)
        ...         writer.write({"image": picture, "npy": np.zeros((40, 60, 12), np.uint16)})
        >>> bands = reader.Bands("npy", interpolation="bilinear")
        >>> with reader.Loader(
        ...     "satellite",
        ...     batch_size=2,
        ...     transforms=[reader.RandomResizedCrop(32), reader.RandomHorizontalFlip()],
        ...     fields=("image", bands),
        ... ) as loader:
        ...     images, arrays = next(iter(loader))
        >>> arrays.shape, arrays.dtype
        (torch.Size([2, 12, 32, 32]), torch.uint16)
    """

    __module__ = "reader"

    member: str
    interpolation: str = "nearest"
    fill: float = 0
    decode: Decode | None = None

    def __post_init__(self) -> None:
        check(vars(self), _OF_BANDS)


Field = str | Mask | Bands | Overlay | Member


@dataclass(frozen=True)
class ResolvedField:
    """A field that is read from a member; each kind has a class in `reader.fields.members`."""

    field: Any  # the user's; an `Overlay` is completed by dataset.json
    name: str  # in the dict of a sample
    ext: str  # the member's extension
    is_optional: bool  # a sample without the member has the value `absent`
    is_learnt: bool = False  # an array with the first sample's type and shape

    follows_image: ClassVar[bool] = False  # it is transformed in each view
    is_picture: ClassVar[bool] = False  # it is delivered like the image, if it is in colour
    absent: ClassVar[Any] = None

    def shown(self, data: bytes, planned: "Planned", tools: "Tools") -> Sequence[Any]:
        """Return the member in each view; once, if it does not follow the image."""
        raise NotImplementedError


@dataclass
class Tools:
    decoder: "Decoder"
    dropped_boxes: int = 0


def name_of(field: Field) -> str:
    return field.name if isinstance(field, Overlay) else written(field).removesuffix("?")


def written(field: Field) -> str:
    return field if isinstance(field, str) else field.member
