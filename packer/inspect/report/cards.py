"""Samples as the page shows them: drawn small, with what lies over them in fractions of that."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from packer.inspect.report.annotations import EMPTY, Annotated, Points, Reading
from packer.inspect.report.batches import of_each
from packer.inspect.report.masks import shown
from packer.inspect.report.sample import Sample, is_mask
from packer.progress import Progress
from packer.words import shortened
from reader.format import ShardfeedError
from reader.format.errors import DecodeError

if TYPE_CHECKING:
    from reader import Dataset

_SIDE = 192  # pixels of the longer side
_QUALITY = 72
_BOXES = 60  # drawn
_POINTS = 48  # of an outline
_CAPTION = 240  # characters
_COLOURS = 6


@dataclass(frozen=True)
class Box:
    """A box over a card's picture.

    Attributes:
        x, y, width, height: in fractions.
        label: its class, -1 for none.
        told: where it is, in pixels of the image.
        is_empty: too small to be seen.
    """

    x: float
    y: float
    width: float
    height: float
    label: int
    told: str
    is_empty: bool

    @property
    def colour(self) -> int:
        """Which of the page's colours for classes it has."""
        return self.label % _COLOURS


@dataclass(frozen=True)
class Card:
    """One sample.

    Attributes:
        key, name: which it is, in the dataset and in the source.
        image: a data URL; "" where `reason` says why there is none.
        height, width: of the space that it fills, whatever the image has.
        boxes: the smallest last, so that none hides another.
        labels: the classes of all its boxes, also of those not drawn.
        outlines: the ``points`` of SVG polygons, in fractions.
        masks: data URLs of what lies over the image.
        captions: texts.
    """

    key: str
    name: str
    image: str = ""
    height: int = 120
    width: int = _SIDE
    boxes: list[Box] = field(default_factory=list)
    labels: frozenset[int] = frozenset()
    outlines: list[str] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    more_boxes: int = 0
    reason: str = ""

    def classes(self, label: int) -> list[int]:
        """Those of a sample of this label, or of its boxes; -1 for none."""
        own = {label} if label >= 0 else self.labels
        return sorted(own or {-1})

    @property
    def weight(self) -> int:
        """About as many bytes it takes in the page."""
        names = 5 * (len(self.key) + len(self.name))
        drawn = sum(map(len, [self.image, *self.masks, *self.outlines]))
        return drawn + names + 300 * len(self.boxes) + 1500


def cards(
    dataset: "Dataset", numbers: Sequence[int], reading: Reading, jobs: int, progress: Progress
) -> dict[int, Card]:
    """Draw these samples, in `jobs` processes."""
    done = of_each(dataset, numbers, partial(_card, reading=reading), jobs, progress, "draw")
    damaged = {
        number: Card(f"sample {number}", "", reason=reason)
        for number, reason in done.damages.items()
    }
    return done.results | damaged


def _card(sample: Sample, reading: Reading) -> Card:
    key, name = sample.key, _printable(sample.name)
    try:
        drawn = sample.drawn(_SIDE)
    except (ShardfeedError, DecodeError) as error:
        return Card(key, name, reason=str(error))
    height, width = drawn.shape[:2]
    scale = _SIDE / max(height, width)
    reason = ""
    try:
        told = sample.annotated(reading)
    except (ValueError, RecursionError) as error:
        told, reason = Annotated(), f"its annotations were not understood: {error}"
    masks = [
        _data_url("png", shown(sample.mask(ext), height, width))
        for ext in sample.members
        if is_mask(ext)
    ]
    return Card(
        key,
        name,
        _data_url("webp", _webp(drawn)),
        max(round(height * scale), 1),
        max(round(width * scale), 1),
        _boxes(told, *sample.size),
        frozenset(told.labels.tolist()),
        [_polygon(points) for points in told.outlines[:_BOXES]],
        masks,
        [shortened(_printable(text), _CAPTION) for text in told.captions[:5]],
        max(len(told.boxes) - _BOXES, 0),
        reason,
    )


def _boxes(told: Annotated, height: int, width: int) -> list[Box]:
    """The first boxes, of an image of so many pixels."""
    boxes, labels = told.boxes[:_BOXES], told.labels[:_BOXES].tolist()
    sides = (boxes[:, 2:] - boxes[:, :2]) * (width, height)
    found = []
    for at in np.argsort(-sides.prod(axis=1), kind="stable").tolist():
        left, top, right, bottom = boxes[at].clip(-2, 3).round(4).tolist()
        found.append(
            Box(
                left,
                top,
                round(right - left, 4),
                round(bottom - top, 4),
                labels[at],
                _placed(boxes[at] * (width, height, width, height), height, width),
                bool(sides[at].min() < EMPTY),
            )
        )
    return found


def _placed(pixels: Points, height: int, width: int) -> str:
    """Where a box of these corners is, and how far it reaches out of its image."""
    left, top, right, bottom = pixels.tolist()
    beyond = {
        "on the left": -left,
        "above": -top,
        "on the right": right - width,
        "below": bottom - height,
    }
    out = [f"{_length(far)} {where}" for where, far in beyond.items() if far > 0.05]
    size = f"{_length(right - left)} \N{MULTIPLICATION SIGN} {_length(bottom - top)}"
    told = f"x {_length(left)}, y {_length(top)}, {size} pixels"
    return told + f", outside by {', '.join(out)}" * bool(out)


def _length(pixels: float) -> str:
    return f"{round(pixels, 1) + 0:,g}"


def _polygon(points: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> str:
    few = points[:: -(-len(points) // _POINTS)].clip(-2, 3)
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in few.tolist())


def _webp(drawn: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]") -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(drawn).save(file, "WEBP", quality=_QUALITY)
    return file.getvalue()


def _data_url(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _printable(text: str) -> str:
    """What an HTML file can hold: bytes of names that are no UTF-8 become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
