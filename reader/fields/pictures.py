"""Fields that are pictures or arrays over the image, and are transformed with it."""

import os
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from reader.checks import FUNCTION, TEXT, Rule, check, is_integer, is_number, or_none
from reader.dataset.dataset import Dataset
from reader.decode.colours import ColourTable
from reader.decode.decoder import draw_mask
from reader.decode.formats import Pixels, has_colours, part, read_colours, read_values
from reader.decode.plan import View
from reader.errors import ArgumentError
from reader.fields.field import Tools
from reader.fields.members import Decode, MemberField
from reader.fields.pixels import Planned
from reader.format import MaskColors
from reader.format.bands import bands_of
from reader.format.files import open_regular
from reader.format.mask_colors import MOST_BYTES
from reader.format.members import PHOTOGRAPHS, holds_values, kind_of, picture_format

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
class Mask(MemberField):
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
    parsed: MaskColors | None = field(init=False, repr=False, default=None)  # coded by colour

    follows_image = True
    axis = 0
    is_mask = True

    def __post_init__(self) -> None:
        check(vars(self), _OF_MASK)
        if self.colors is not None:
            vars(self)["parsed"] = _parsed(self.colors)

    @property
    def is_picture(self) -> bool:  # type: ignore[override]
        """Whether it is delivered like the image, if it is in colour."""
        if self.is_mask or self.parsed is not None:
            return False
        return picture_format(self.ext) in PHOTOGRAPHS or not holds_values(self.ext)

    def resolved(self, dataset: Dataset) -> "Mask":
        """Return the field with what dataset.json records of it."""
        found = copy(self)
        vars(found)["parsed"] = self.parsed or dataset.mask_colors.get(self.ext)
        if self.ignore is not None and found.parsed is None:
            raise ArgumentError(
                f"ignore= is for masks coded by colour, and dataset.json has no colours of "
                f'.{self.ext}. Give them: reader.Mask("{self.ext}", colors=[(0, 0, 0), '
                '(128, 0, 0)], ignore=...), or a file, colors="class_dict.csv".'
            )
        return found

    def check_part(self, part: Dataset, whole: Dataset) -> None:
        """Check a dataset of a Mix: it has the member, held alike."""
        super().check_part(part, whole)
        known, own = whole.mask_colors.get(self.ext), part.mask_colors.get(self.ext)
        if self.ext in part.extensions and self.parsed == known != own:
            raise ArgumentError(
                f"{part.source} has other colours of classes in masks .{self.ext} than another "
                f'dataset of the Mix: give reader.Mask("{self.ext}", colors=...).'
            )

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        """Return the member in each view."""
        kind = picture_format(self.ext) or ""
        bands = bands_of(planned.shard.index.columns, planned.row, self.ext)
        views = [view.of_other(data, kind, bands) for view in planned.views]
        if self.is_picture and (kind in PHOTOGRAPHS or has_colours(views[0])):
            outs = [np.empty((*view.size, view.image.depth), np.uint8) for view in views]
            tools.decoder.draw_all(views, outs)
            return outs
        values = read_values(views) if self.parsed is None else self._classes(views, planned)
        return [draw_mask(*each, self.fill) for each in zip(views, values, strict=True)]

    @cached_property
    def _table(self) -> ColourTable:
        assert self.parsed is not None
        return ColourTable(self.parsed.colors)

    def _classes(self, views: Sequence[View], planned: Planned) -> list[Pixels]:
        try:
            return [self._table.numbers(pixels, self.ignore) for pixels in read_colours(views)]
        except KeyError as error:
            reason = (
                f"its .{self.ext} has the colour {error.args[0]}, which is none of the "
                f"{len(self._table.colors)} colours of classes; add the colour to colors=, or give "
                f'reader.Mask("{self.ext}", ignore=255) to make such pixels 255'
            )
            raise planned.shard.error(planned.row, reason, self.ext) from None


class Picture(Mask):
    """A picture that is named without a kind: one in colour, or the values of a mask."""

    is_mask = False


@dataclass(frozen=True)
class Bands(MemberField):
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

    follows_image = True
    axis = 1

    def __post_init__(self) -> None:
        check(vars(self), _OF_BANDS)

    def resolved(self, dataset: Dataset) -> "Bands":
        """Return the field with what dataset.json records of it."""
        if self.decode is None and kind_of(self.ext) != "npy":
            raise ArgumentError(
                f"Bands reads arrays (.npy), not {self.ext!r}. Give Bands(..., decode=f), where f "
                "returns the array for the member's bytes."
            )
        return self

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        """Return the member in each view."""
        image, array = planned.view.image, np.asarray(self.decoder(data))
        size, filter = (image.height, image.width), self.interpolation
        if array.shape[:2] != size or array.ndim > 3 or array.dtype.kind not in "biuf":
            raise ValueError(
                f"it has {array.dtype} {array.shape}; numbers of shape {size} or "
                f"({size[0]}, {size[1]}, bands) are required, as its image is stored. If bands "
                "come first, pack np.moveaxis(array, 0, -1)"
            )
        is_exact = array.dtype.kind == "f" or np.can_cast(array.dtype, np.float32)
        if filter != "nearest" and not is_exact:
            raise ValueError(f'{array.dtype} has no {filter} resize; use interpolation="nearest"')
        array = array.reshape(*size, -1)
        drawn = (draw_mask(v, part(array, v.box), self.fill, filter) for v in planned.views)
        return [np.moveaxis(bands, -1, 0) for bands in drawn]
