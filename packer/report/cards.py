"""Samples as the page shows them: drawn small, with what lies over them in fractions of that."""

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from packer.progress import Progress
from packer.report.annotations import Annotated, Reading
from packer.report.batches import of_each
from packer.report.masks import shown
from packer.report.sample import Sample, is_mask
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
_NAME = 200


@dataclass(frozen=True)
class Card:
    """One sample.

    Attributes:
        key, name: which it is, in the dataset and in the source.
        image: a data URL; "" where `reason` says why there is none.
        height, width: of the space that it fills, whatever the image has.
        boxes: (x, y, width, height, label) in fractions.
        outlines: the ``points`` of SVG polygons, in fractions.
        masks: data URLs of what lies over the image.
        captions: texts.
    """

    key: str
    name: str
    image: str = ""
    height: int = 120
    width: int = _SIDE
    boxes: list[tuple[float, float, float, float, int]] = field(default_factory=list)
    outlines: list[str] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)
    more_boxes: int = 0
    reason: str = ""

    def classes(self, label: int) -> list[int]:
        """Those of a sample of this label, or of its boxes; -1 for none."""
        own = {label} if label >= 0 else {box[-1] for box in self.boxes}
        return sorted(own or {-1})

    @property
    def weight(self) -> int:
        """About as many bytes it takes in the page."""
        return len(self.image) + sum(map(len, [*self.masks, *self.outlines])) + 1500


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
    key, name = shortened(sample.key, _NAME), shortened(_printable(sample.name), _NAME)
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
    corners = np.hstack([told.boxes[:, :2], told.boxes[:, 2:] - told.boxes[:, :2]])
    return Card(
        key,
        name,
        _data_url("webp", _webp(drawn)),
        max(round(height * scale), 1),
        max(round(width * scale), 1),
        [
            (*(round(value, 4) for value in box), label)
            for box, label in zip(
                corners[:_BOXES].clip(-2, 3).tolist(), told.labels[:_BOXES].tolist(), strict=True
            )
        ],
        [_polygon(points) for points in told.outlines[:_BOXES]],
        masks,
        [shortened(_printable(text), _CAPTION) for text in told.captions[:5]],
        max(len(told.boxes) - _BOXES, 0),
        reason,
    )


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
