"""Reads samples and keeps figures of their pixels that no index has, for the rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.annotations import Reading
from packer.inspect.report.sample import Sample, Samples, mask_values

if TYPE_CHECKING:
    from PIL.Image import Image

_DRAWN = 128  # pixels of the longer side, at which an image is looked at
_LACKING = 128  # in all channels
TINY = 16  # pixels, squared: what near duplicates are compared by

# Of an image, the fields of `Looked` from spread to tiny.
_PIXELS = np.dtype(
    [
        *((name, np.float64) for name in ("spread", "tint", "cut_off")),
        *((name, np.uint64) for name in ("hash", "mirrored")),
        ("tiny", np.uint8, (TINY * TINY,)),
    ]
)


class _Seen(NamedTuple):
    pixels: tuple[float, float, float, int, int, NDArray[np.uint8]]
    masks: dict[str, NDArray[np.bool_]]  # by extension `mask_values`, where there are any
    boxes: NDArray[np.float64]  # (M, 4), in fractions of the upright image
    labels: NDArray[np.int64]
    captions: list[int]  # lengths of its texts
    fault: str  # why its annotations could not be read


@dataclass(frozen=True)
class Looked:
    """Figures of the samples that were read: N samples, M boxes in all."""

    numbers: NDArray[np.int64]  # ascending
    spread: NDArray[np.float64]  # the standard deviation of the channel that varies most
    tint: NDArray[np.float64]  # how far the channels are apart on average; 0: it is grey
    cut_off: NDArray[np.float64]  # see `_cut_off`
    hash: NDArray[np.uint64]  # perceptual, as is that of the mirror image
    mirrored: NDArray[np.uint64]
    tiny: NDArray[np.uint8]  # grey values, (N, TINY * TINY)
    boxes: NDArray[np.float64]  # (M, 4), corners in fractions of the upright image
    box_sample: NDArray[np.int64]  # box_sample, box_label: (M,)
    box_label: NDArray[np.int64]
    unread: dict[int, str] = field(default_factory=dict)  # by number, as `damages`
    # By extension which of 256 values each mask has, (masks, 256), and the masks' samples.
    values: dict[str, tuple[NDArray[np.bool_], NDArray[np.int64]]] = field(default_factory=dict)
    # Sample and length of each text, (texts, 2).
    captions: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    damages: dict[int, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.numbers) + len(self.damages)

    def are_mirrored(self, first: int, second: int) -> bool:
        """Return whether one is rather the other's mirror image, of two that are alike."""
        if not np.isin([first, second], self.numbers).all():
            return False
        one, other = self.tiny[np.searchsorted(self.numbers, [first, second])].astype(np.int16)
        mirror = other.reshape(TINY, TINY)[:, ::-1].ravel()
        return bool(np.abs(one - mirror).sum() < np.abs(one - other).sum())


def look(samples: Samples, numbers: Sequence[int]) -> Looked:
    results, damages = samples.map(partial(_look, reading=samples.reading), numbers, "look")
    found = dict(sorted(results.items()))
    read, own = np.array(list(found), np.int64), list(found.values())
    pixels = np.array([one.pixels for one in own], _PIXELS)
    texts = [(number, size) for number, one in found.items() for size in one.captions]
    masks: dict[str, dict[int, NDArray[np.bool_]]] = {}
    for number, one in found.items():
        for ext, occurs in one.masks.items():
            masks.setdefault(ext, {})[number] = occurs
    return Looked(
        read,
        **{name: pixels[name] for name in _PIXELS.names or ()},
        boxes=np.concatenate([np.zeros((0, 4)), *(one.boxes for one in own)]),
        box_sample=np.repeat(read, np.array([len(one.labels) for one in own], np.int64)),
        box_label=np.concatenate([np.zeros(0, np.int64), *(one.labels for one in own)]),
        unread={number: one.fault for number, one in found.items() if one.fault},
        values={ext: (np.array([*of.values()]), np.array([*of])) for ext, of in masks.items()},
        captions=np.array(texts, np.int64).reshape(-1, 2),
        damages=damages,
    )


def _look(sample: Sample, reading: Reading) -> _Seen:
    pixels = _pixels(sample.drawn(_DRAWN))
    each = ((ext, mask_values(mask)) for ext, mask in sample.masks())
    masks = {ext: occurs for ext, occurs in each if occurs is not None}
    found, fault = sample.annotated(reading)
    captions = [len(text.strip()) for text in found.captions]
    return _Seen(pixels, masks, found.boxes, found.labels, captions, fault)


def _pixels(drawn: NDArray[np.uint8]) -> tuple[float, float, float, int, int, NDArray[np.uint8]]:
    from PIL import Image, ImageOps

    values = drawn.reshape(-1, 3).astype(np.float32)
    grey = Image.fromarray(drawn).convert("L")
    return (
        float(values.std(axis=0).max()),
        float(np.ptp(values, axis=1).mean()),
        _cut_off(drawn),
        _hash(grey),
        _hash(ImageOps.mirror(grey)),
        np.asarray(grey.resize((TINY, TINY), Image.Resampling.BOX)).ravel(),
    )


def _hash(grey: "Image") -> int:
    import imagehash

    return int.from_bytes(np.packbits(imagehash.phash(grey).hash).tobytes(), "big")


def _cut_off(drawn: NDArray[np.uint8]) -> float:
    """How much of its height, at the bottom, is the grey of which a decoder makes what lacks."""
    distance = np.abs(drawn.astype(np.int16) - _LACKING).max(axis=(1, 2))
    return int(np.argmax(np.append(distance[::-1], 256) > 1)) / len(drawn)
