"""Cards of samples on the page: thumbnails, with overlays in fractions of their size."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from packer.inspect.report.annotations import EMPTY, Annotated, Points, Reading
from packer.inspect.report.sample import Sample, Samples, mask_as_png
from packer.words import shortened

_SIDE = 192  # pixels of the longer side
_QUALITY = 72
_BOXES = 60  # drawn
_POINTS = 48  # of an outline
_CAPTION = 240  # characters


@dataclass(frozen=True)
class Box:
    x: float  # x, y, width, height: in fractions
    y: float
    width: float
    height: float
    label: int  # its class, -1 for none
    position: str  # in pixels of the image, in words
    is_empty: bool  # too small to be seen


@dataclass(frozen=True)
class Card:
    key: str  # key, name: which it is, in the dataset and in the source
    name: str
    image: str = ""  # a data URL; "" where `reason` says why there is none
    height: int = 120  # height, width: of the space that it fills, whatever the image has
    width: int = _SIDE
    boxes: list[Box] = field(default_factory=list)  # the smallest last, so that none hides another
    labels: frozenset[int] = frozenset()  # the classes of all its boxes, also of those not drawn
    outlines: list[str] = field(default_factory=list)  # ``points`` of SVG polygons, in fractions
    masks: list[str] = field(default_factory=list)  # data URLs of what is over the image
    captions: list[str] = field(default_factory=list)  # texts
    more_boxes: int = 0
    reason: str = ""

    def classes(self, label: int) -> list[int]:
        return sorted(({label} if label >= 0 else self.labels) or {-1})

    @property
    def weight(self) -> int:
        names = 5 * (len(self.key) + len(self.name))
        drawn = sum(map(len, [self.image, *self.masks, *self.outlines]))
        return drawn + names + 300 * len(self.boxes) + 1500


def cards(samples: Samples, numbers: Sequence[int]) -> dict[int, Card]:
    found, damages = samples.map(partial(_card, reading=samples.reading), numbers, "draw")
    damaged = ((Sample(samples.dataset, n), reason) for n, reason in damages.items())
    missing = (Card(sample.key, sample.name, reason=reason) for sample, reason in damaged)
    return found | dict(zip(damages, missing, strict=True))


def _card(sample: Sample, reading: Reading) -> Card:
    from PIL import Image

    drawn = sample.drawn(_SIDE)
    height, width = drawn.shape[:2]
    scale = _SIDE / max(height, width)
    found, fault = sample.annotated(reading)
    webp = io.BytesIO()
    Image.fromarray(drawn).save(webp, "WEBP", quality=_QUALITY)
    masks = [_data_url("png", mask_as_png(mask, height, width)) for _, mask in sample.masks()]
    return Card(
        sample.key,
        sample.name,
        _data_url("webp", webp.getvalue()),
        max(round(height * scale), 1),
        max(round(width * scale), 1),
        _boxes(found, *sample.size),
        frozenset(found.labels.tolist()),
        [_polygon(points) for points in found.outlines[:_BOXES]],
        masks,
        [shortened(text, _CAPTION) for text in found.captions[:5]],
        max(len(found.boxes) - _BOXES, 0),
        f"its annotations cannot be read: {fault}" if fault else "",
    )


def _boxes(given: Annotated, height: int, width: int) -> list[Box]:
    boxes, labels = given.boxes[:_BOXES], given.labels[:_BOXES].tolist()
    sides = (boxes[:, 2:] - boxes[:, :2]) * (width, height)
    found = []
    for at in np.argsort(-sides.prod(axis=1), kind="stable").tolist():
        left, top, right, bottom = boxes[at].clip(-2, 3).round(4).tolist()
        place = left, top, round(right - left, 4), round(bottom - top, 4)
        position = _position(boxes[at] * (width, height, width, height), height, width)
        found.append(Box(*place, labels[at], position, bool(sides[at].min() < EMPTY)))
    return found


def _position(pixels: Points, height: int, width: int) -> str:
    left, top, right, bottom = pixels.tolist()
    sides = ("on the left", "above", "on the right", "below")
    beyond = zip(sides, (-left, -top, right - width, bottom - height), strict=True)
    out = [f"{_length(far)} {where}" for where, far in beyond if far > 0.05]
    size = f"{_length(right - left)} \N{MULTIPLICATION SIGN} {_length(bottom - top)}"
    position = f"x {_length(left)}, y {_length(top)}, {size} pixels"
    return position + f", outside by {', '.join(out)}" * bool(out)


def _length(pixels: float) -> str:
    return f"{round(pixels, 1) + 0:,g}"


def _polygon(points: Points) -> str:
    few = points[:: -(-len(points) // _POINTS)].clip(-2, 3)
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in few.tolist())


def _data_url(kind: str, data: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
