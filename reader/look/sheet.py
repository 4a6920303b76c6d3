"""Draw a contact sheet: images side by side, with their annotations."""

import colorsys
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from reader.errors import ArgumentError

SIDE = 192  # pixels of a tile
_GAP = 8
_LINE = 15
_COLUMNS = 8
_DOT = 3  # pixels of a point's radius
_FORMATS = {"": "PNG", ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
_QUALITY = 92
_PAPER, _INK, _FAINT = (250, 250, 250), (20, 20, 20), (110, 110, 110)


@dataclass
class Tile:
    """One image, RGB, and what is drawn over it, in its pixels, or written below."""

    pixels: NDArray[np.uint8]
    lines: list[str] = field(default_factory=list)
    boxes: list[tuple[tuple[float, ...], int, str]] = field(default_factory=list)
    mask: NDArray[Any] | None = None  # of classes
    points: list[tuple[float, float, int]] = field(default_factory=list)  # x, y, number in object
    polygons: list[tuple[list[float], int]] = field(default_factory=list)  # x1, y1, ..., object


class Sheet:
    """Images side by side, which a notebook shows and `save` writes to a file.

    Example:
        >>> with reader.Loader("shards", batch_size=4, transforms=[reader.Resize(64)]) as loader:
        ...     sheet = loader.preview()
        >>> sheet
        <reader.Sheet of 4 images, ... pixels>
    """

    __module__ = "reader"

    def __init__(self, tiles: Sequence[Tile], head: str) -> None:
        """Draw the tiles below the line `head`."""
        self._count = len(tiles)
        self.image = _drawn(tiles, head)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to `path`; the extension chooses the format: .png, .jpg, .jpeg or .webp.

        Raises:
            ArgumentError: the extension is another one.
        """
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        if suffix not in _FORMATS:
            raise ArgumentError(f"{path}: the extension is .png, .jpg or .webp, not {suffix}.")
        self.image.save(path, _FORMATS[suffix], quality=_QUALITY)

    def png(self) -> bytes:
        """Return it as the bytes of a PNG."""
        file = io.BytesIO()
        self.image.save(file, "PNG")
        return file.getvalue()

    _repr_png_ = png  # for notebooks

    def __repr__(self) -> str:
        width, height = self.image.size
        return f"<reader.Sheet of {self._count} images, {width} x {height} pixels>"


def color_of(number: int) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(number * 0.618034 % 1, 0.85, 1.0)
    return int(red * 255), int(green * 255), int(blue * 255)


def _drawn(tiles: Sequence[Tile], head: str) -> Image.Image:
    columns = min(max(len(tiles), 1), _COLUMNS)
    rows = -(-len(tiles) // columns)
    lines = max((len(tile.lines) for tile in tiles), default=0)
    width = max(_GAP + columns * (SIDE + _GAP), 480)
    height = 2 * _GAP + _LINE + rows * (SIDE + lines * _LINE + _GAP)
    sheet = Image.new("RGB", (width, height), _PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((_GAP, _GAP // 2), fitted(head, width - 2 * _GAP), _FAINT, font())
    for number, tile in enumerate(tiles):
        left = _GAP + number % columns * (SIDE + _GAP)
        top = _GAP + _LINE + number // columns * (SIDE + lines * _LINE + _GAP)
        picture = _tile(tile)
        at = left + (SIDE - picture.width) // 2, top + (SIDE - picture.height) // 2
        sheet.paste(picture, at)
        for line, text in enumerate(tile.lines):
            place = left, top + SIDE + line * _LINE
            draw.text(place, fitted(text, SIDE), _INK, font())
    return sheet


def _tile(tile: Tile) -> Image.Image:
    height, width = tile.pixels.shape[:2]
    if not (height and width):
        return Image.new("RGB", (SIDE, SIDE), _FAINT)
    pixels = tile.pixels
    if tile.mask is not None and tile.mask.shape == (height, width):
        pixels = _under_mask(pixels, tile.mask)
    scale = SIDE / max(height, width)
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    # Small images are enlarged without smoothing.
    filter_ = Image.Resampling.NEAREST if scale > 1 else Image.Resampling.LANCZOS
    picture = Image.fromarray(pixels).resize(size, filter_)
    draw = ImageDraw.Draw(picture)
    for box, label, name in tile.boxes:
        left, top, right, bottom = (float(edge) * scale for edge in box)
        if not all(np.isfinite([left, top, right, bottom])) or right < left or bottom < top:
            continue
        color = color_of(label)
        draw.rectangle((left, top, right, bottom), outline=color, width=2)
        if name:
            _label(draw, fitted(name, 2 * picture.width // 3), (left, top), color, picture.size)
    for corners, owner in tile.polygons:
        if len(corners) > 2:
            draw.polygon([edge * scale for edge in corners], outline=color_of(owner), width=2)
    for x, y, number in tile.points:
        draw.circle((x * scale, y * scale), _DOT, fill=color_of(number), outline=_PAPER)
    return picture


def _label(
    draw: ImageDraw.ImageDraw,
    name: str,
    corner: tuple[float, float],
    color: tuple[int, int, int],
    size: tuple[int, int],
) -> None:
    """Draw a box's name on its colour, at its upper left corner inside the image."""
    _, _, width, height = draw.textbbox((0, 0), name, font())
    left, top = (
        min(max(at, 0), max(most - length, 0))
        for at, length, most in zip(corner, (width + 4, height + 2), size, strict=True)
    )
    draw.rectangle((left, top, left + width + 3, top + height + 1), fill=color)
    red, green, blue = color
    is_bright = 3 * red + 6 * green + blue > 10 * 128
    draw.text((left + 2, top), name, _INK if is_bright else _PAPER, font())


def _under_mask(pixels: NDArray[np.uint8], mask: NDArray[Any]) -> NDArray[np.uint8]:
    found = pixels.copy()
    for number in np.unique(mask).tolist():
        if number:
            here = mask == number
            found[here] = found[here] // 2 + np.array(color_of(int(number)), np.uint8) // 2
    return found


_SIZE = 12
_LACKING = "\U0010ffff"  # in no font


@lru_cache(maxsize=1)
def font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    name = "DejaVuSans.ttf"
    spec = find_spec("matplotlib")  # an extra with this font; it is not imported
    of_matplotlib = Path(spec.origin).parent / "mpl-data/fonts/ttf" if spec and spec.origin else ""
    for path in (Path(of_matplotlib, name), name):
        try:
            return ImageFont.truetype(str(path), _SIZE)
        except OSError:
            continue
    return ImageFont.load_default(_SIZE)


def fitted(text: str, width: int) -> str:
    """Return text in one line of at most `width` pixels, with escapes for missing characters."""
    shown = "".join(map(_shown, text.replace("\n", " ")[:width]))
    if font().getlength(shown) <= width:
        return shown
    while shown and font().getlength(f"{shown}…") > width:
        shown = shown[:-1]
    return f"{shown}…"


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    drawn = bytes(font().getmask(character))
    if character.isprintable() and (character == " " or drawn != bytes(font().getmask(_LACKING))):
        return character
    return character.encode("unicode_escape").decode()
