"""The fields of a sample: a name of `BUILT_IN`, or a member by its extension (``mask.png``).

`Member` brings a decoder of one's own; `Mask` and `Boxes` say more about a member that belongs to
the image's geometry. A ``?`` behind an extension gives None for a sample that has no such member.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from reader.checks import FUNCTION, TEXT, check, is_integer
from reader.samples.boxes import Boxes

if TYPE_CHECKING:
    from reader.decode.decoder import Decoder
    from reader.samples.pixels import Planned

BUILT_IN = ("image", "label", "index", "valid", "key", "name", "size", "source")
PHOTOGRAPHS = ("jpg", "webp")  # resized smoothly, as the image is; others may hold classes

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
    """A field that is read from a member; each kind has a class in `reader.samples.members`."""

    field: Any  # as the user wrote it; of `Boxes` with what dataset.json records
    name: str  # in the dict of a sample
    ext: str  # the member's extension
    is_optional: bool  # a sample may have no such member: `absent` is its value then
    is_learnt: bool = False  # an array, whose type and shape the first sample tells

    follows_image: ClassVar[bool] = False  # each view shows its own
    is_picture: ClassVar[bool] = False  # it arrives as the image does, if it has colours
    absent: ClassVar[Any] = None

    def shown(self, data: bytes, planned: "Planned", tools: "Tools") -> Sequence[Any]:
        """Return the member as each view shows it; once, if it does not follow the image."""
        raise NotImplementedError


@dataclass
class Tools:
    decoder: "Decoder"
    dropped_boxes: int = 0


def name_of(field: Field) -> str:
    return "boxes" if isinstance(field, Boxes) else written(field).removesuffix("?")


def written(field: Field) -> str:
    return field if isinstance(field, str) else field.member
