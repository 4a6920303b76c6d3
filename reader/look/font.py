"""The letters of a sheet: DejaVu Sans where it is, which has most alphabets, else Pillow's own."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from PIL import ImageFont

_SIZE = 12
_LACKING = "\U0010ffff"  # which no font has


@lru_cache(maxsize=1)
def font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """What texts are drawn with."""
    name = "DejaVuSans.ttf"
    spec = find_spec("matplotlib")  # an extra, that has it: it need not be imported
    of_matplotlib = Path(spec.origin).parent / "mpl-data/fonts/ttf" if spec and spec.origin else ""
    for path in (Path(of_matplotlib, name), name):
        try:
            return ImageFont.truetype(str(path), _SIZE)
        except OSError:
            continue
    return ImageFont.load_default(_SIZE)


def fitted(text: str, width: int) -> str:
    """A text in one line of at most `width` pixels, with escapes for what cannot be drawn."""
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
