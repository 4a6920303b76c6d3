"""The fields of a sample: a name of `BUILT_IN`, or a member by its extension (``mask.png``).

`Member` has a user's decoder; `Mask`, `Boxes`, `Points` and `Polygons` describe a member that is
transformed with the image. A ``?`` after an extension gives None for a sample without the member.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from reader.checks import FUNCTION, TEXT, check, is_integer
from reader.samples.overlays import Overlay

if TYPE_CHECKING:
    from reader.decode.decoder import Decoder
    from reader.samples.pixels import Planned

BUILT_IN = ("image", "label", "index", "valid", "key", "name", "size", "geometry")
PHOTOGRAPHS = ("jpg", "webp")  # resized smoothly, like the image; others may hold classes

Decode = Callable[[bytes], Any]


@dataclass(frozen=True)
class Mask:
    """A picture whose pixels are classes, in the coordinates of the stored image.

    It is transformed with the image, by nearest pixel, so that values are not mixed. It is
    delivered as (height, width) or (height, width, channels), in its stored type; a palette image
    as indices. The field ``"mask.png"`` is short for ``Mask("mask.png")``.

    Attributes:
        member: its extension.
        fill: value of the padding of a crop or Letterbox.

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


Field = str | Mask | Overlay | Member


@dataclass(frozen=True)
class ResolvedField:
    """A field that is read from a member; each kind has a class in `reader.samples.members`."""

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
