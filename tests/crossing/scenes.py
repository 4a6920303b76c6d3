"""What is true of a sample, and the picture that shows it.

The background's colour is the sample's identity. Objects are brighter than any background, and
their colour is their class and number, so that a lossy picture is judged by its brightness.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from made_images import turned
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
Corners = NDArray[np.float64]  # (K, 2), of x and y

CLASSES = ("cow", "ant", "bee")  # not in the order of the alphabet
# Of samples: dark, each brighter than the one before it by ten, so that grey tells them, too.
BACKGROUNDS = (
    *((0, 14, 48), (67, 0, 34), (0, 58, 0), (103, 0, 115), (130, 26, 0), (0, 82, 137)),
    *((33, 109, 0), (136, 48, 136), (127, 95, 0), (0, 150, 142)),
)
# Of objects, by class and number: the second one of a picture is the brighter one.
BRIGHT = (
    ((230, 210, 0), (255, 235, 150)),
    ((90, 225, 225), (190, 255, 190)),
    ((255, 150, 255), (255, 255, 255)),
)
_TURNS = (6, 3, 8, 1, 5, 2, 7, 4, 6)  # as EXIF has them
_TURNED = (6, 5, 8, 1, 5, 6, 7, 8, 6)  # without those that keep the size, which tells them
_SIZES = ((64, 48), (48, 60), (72, 44), (52, 66))  # none is square


@dataclass(frozen=True)
class Thing:
    """An object: a rectangle, or one without its lower right quarter."""

    label: int
    number: int  # in its picture
    box: tuple[int, int, int, int]  # x0, y0, x1, y1 in the stored picture

    @property
    def color(self) -> tuple[int, int, int]:
        return BRIGHT[self.label][self.number]

    @property
    def outline(self) -> Corners:
        x0, y0, x1, y1 = self.box
        if not self.number:
            return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)
        x, y = (x0 + x1) // 2, (y0 + y1) // 2
        return np.array([(x0, y0), (x1, y0), (x1, y), (x, y), (x, y1), (x0, y1)], float)

    @property
    def points(self) -> Corners:
        """The middles of its three whole quarters, which no mirror confuses."""
        x0, y0, x1, y1 = self.box
        quarters = np.array([(1, 1), (3, 1), (1, 3)])
        return (x0, y0) + quarters * (x1 - x0, y1 - y0) / 4

    def draw(self, canvas: NDArray[Any], value: Any) -> None:
        x0, y0, x1, y1 = self.box
        canvas[y0 : (y0 + y1) // 2 if self.number else y1, x0:x1] = value
        canvas[y0:y1, x0 : (x0 + x1) // 2 if self.number else x1] = value


@dataclass(frozen=True)
class Scene:
    number: int  # its identity
    size: tuple[int, int]  # (width, height) of the stored picture
    things: tuple[Thing, ...]
    orientation: int = 1
    stem: str = ""  # of its name
    data: bytes | None = None  # in place of its picture
    has_bands: bool = True
    is_other: bool = False  # another class and text than its picture has

    @property
    def label(self) -> int:
        return (self.number + self.is_other) % len(CLASSES)

    @property
    def split(self) -> str:
        return "train" if self.number < 6 else "val"

    @property
    def text(self) -> str:
        return f"sample number {self.number} of {'few' if self.is_other else 'many'}"

    @property
    def upright_size(self) -> tuple[int, int]:
        return self.size if self.orientation < 5 else (self.size[1], self.size[0])

    @property
    def pixels(self) -> Pixels:
        """Its picture as it is stored."""
        width, height = self.size
        canvas = np.empty((height, width, 3), np.uint8)
        canvas[:] = BACKGROUNDS[self.number]
        for thing in self.things:
            thing.draw(canvas, thing.color)
        return canvas

    @property
    def mask(self) -> Pixels:
        """Of each pixel its class from 1, or 0."""
        canvas = np.zeros(self.size[::-1], np.uint8)
        for thing in self.things:
            thing.draw(canvas, thing.label + 1)
        return canvas

    @property
    def bands(self) -> NDArray[np.uint16]:
        """An array over the picture: a class, and the identity."""
        return np.stack([self.mask, np.full_like(self.mask, self.number + 1)], axis=-1).astype("u2")

    def upright(self, points: Corners) -> Corners:
        """Return points of the stored picture as they lie in the upright one."""
        (width, height), (x, y) = self.size, points.T
        places = {
            1: (x, y),
            2: (width - x, y),
            3: (width - x, height - y),
            4: (x, height - y),
            5: (y, x),
            6: (height - y, x),
            7: (height - y, width - x),
            8: (y, width - x),
        }
        return np.stack(places[self.orientation], axis=1)

    def encode(self, kind: str) -> bytes:
        if self.data is not None:
            return self.data
        return encoded(self.pixels, kind, self.orientation)


def encoded(pixels: NDArray[Any], kind: str, orientation: int = 1) -> bytes:
    """Return the bytes of a file of the kind "png", "palette", "webp" or "jpg"."""
    image, file = Image.fromarray(pixels), io.BytesIO()
    options: dict[str, Any] = {} if orientation == 1 else {"exif": turned(orientation)}
    if kind == "palette":
        image = image.quantize(16)
    if kind == "webp":
        options["lossless"] = True
    if kind == "jpg":
        options["quality"] = 92
    image.save(file, {"jpg": "JPEG", "webp": "WEBP"}.get(kind, "PNG"), **options)
    return file.getvalue()


@dataclass(frozen=True)
class Picture:
    """How the pictures of a source are stored, and which of them its annotations describe."""

    kind: str = "png"
    has_exif: bool = False
    is_upright: bool = False  # annotations are of the upright pictures, and state their sizes
    is_bare: bool = False  # some samples have no object
    has_thin: bool = False  # one sample is three pixels high

    @property
    def ext(self) -> str:
        return "png" if self.kind == "palette" else self.kind


PICTURES = {
    "png": Picture(),
    "thin": Picture(has_thin=True),
    "jpg": Picture("jpg"),
    "webp": Picture("webp"),
    "palette": Picture("palette"),
    "bare": Picture(is_bare=True),
    "exif": Picture("jpg", has_exif=True),
    "upright": Picture("jpg", has_exif=True, is_upright=True),
}


def scenes_of(picture: Picture, is_one_size: bool = False) -> list[Scene]:
    """Return nine samples: three of each class, six of them to train with."""
    found = []
    for number in range(9):
        width, height = (48, 48) if is_one_size else _SIZES[number % len(_SIZES)]
        left, top = 3 + number % 4, 5 + number * 3 % 5
        middle, below = width // 2 + 3 + number % 3, height // 2 - 13 + number % 4
        boxes = (
            (left, top, left + 14 + number % 4, top + 16 + number % 7),
            (middle, below, middle + 16, below + 20),
        )
        is_thin = picture.has_thin and number == 3
        if is_thin:
            width, height = 60, 3
        count = 0 if is_thin or (picture.is_bare and number % 4 == 1) else 1 + (number % 5 > 0)
        label = number % len(CLASSES)
        things = (Thing((label + n * (number // 3)) % 3, n, boxes[n]) for n in range(count))
        turns = _TURNED if picture.is_upright else _TURNS
        turn = turns[number] if picture.has_exif else 1
        found.append(Scene(number, (width, height), tuple(things), turn, f"a{number}"))
    return found


def renamed(scenes: Sequence[Scene], stem: str, **changes: Any) -> Scene:
    """Return a copy of the first sample under another name."""
    return replace(scenes[0], stem=stem, **changes)
