"""Reads samples and keeps numbers of them: what the rules ask for that no index knows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.annotations import Reading
from packer.inspect.report.batches import of_each
from packer.inspect.report.masks import values_of
from packer.inspect.report.sample import Sample, is_mask
from packer.progress import Progress

if TYPE_CHECKING:
    from PIL.Image import Image

    from reader import Dataset

_DRAWN = 128  # pixels of the longer side, at which an image is looked at
_LACKING = 128  # in all channels
TINY = 16  # pixels, squared: what near duplicates are compared by


class Pixels(NamedTuple):
    """Of one image.

    Attributes:
        spread: the standard deviation of its values, of the channel that varies most.
        tint: how far its channels lie apart on average; 0: it is grey.
        cut_off: how much of its height, at the bottom, is the grey of which a decoder makes what
            a file lacks; 0 to 1.
        hash, mirrored: a perceptual one, of 64 bits, and that of its mirror image.
        tiny: its grey values, (TINY * TINY,).
    """

    spread: float
    tint: float
    cut_off: float
    hash: int
    mirrored: int
    tiny: NDArray[np.uint8]


class OfMembers(NamedTuple):
    """What one sample's members tell.

    Attributes:
        boxes: (M, 4) in fractions of the upright image, with `labels`; None: they could not be
            read, for the reason in `fault`.
        values: by extension of each mask which of 256 values occur; None: it holds no such values.
        captions: lengths of its texts.
    """

    boxes: NDArray[np.float64] | None
    labels: NDArray[np.int64]
    values: dict[str, NDArray[np.bool_] | None]
    captions: list[int]
    fault: str


@dataclass(frozen=True)
class Looked:
    """What is known of the samples that were looked at; N of them, M boxes in all.

    Attributes:
        numbers: int64 (N,), ascending.
        spread, tint, cut_off: float64 (N,).
        hash, mirrored: uint64 (N,).
        tiny: uint8 (N, TINY * TINY).
        boxes: float64 (M, 4), corners in fractions of the upright image.
        box_sample, box_label: int64 (M,).
        unread: why a sample's annotations could not be read, by number.
        values: by extension, bool (masks, 256), and the masks' samples.
        captions: int64 (texts, 2): sample and length.
        damages: why a sample could not be looked at, by number.
    """

    numbers: NDArray[np.int64]
    spread: NDArray[np.float64]
    tint: NDArray[np.float64]
    cut_off: NDArray[np.float64]
    hash: NDArray[np.uint64]
    mirrored: NDArray[np.uint64]
    tiny: NDArray[np.uint8]
    boxes: NDArray[np.float64]
    box_sample: NDArray[np.int64]
    box_label: NDArray[np.int64]
    unread: dict[int, str] = field(default_factory=dict)
    values: dict[str, tuple[NDArray[np.bool_], NDArray[np.int64]]] = field(default_factory=dict)
    captions: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    damages: dict[int, str] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many samples were looked at, the damaged ones as well."""
        return len(self.numbers) + len(self.damages)

    def are_mirrored(self, first: int, second: int) -> bool:
        """Whether one is rather the other's mirror image, of two that are alike."""
        if not np.isin([first, second], self.numbers).all():
            return False
        one, other = self.tiny[np.searchsorted(self.numbers, [first, second])].astype(np.int16)
        mirror = other.reshape(TINY, TINY)[:, ::-1].ravel()
        return bool(np.abs(one - mirror).sum() < np.abs(one - other).sum())


def look(
    dataset: "Dataset", numbers: Sequence[int], reading: Reading, jobs: int, progress: Progress
) -> Looked:
    """Look at these samples, in `jobs` processes."""
    done = of_each(dataset, numbers, partial(_look, reading=reading), jobs, progress, "look")
    found = sorted(done.results.items())
    pixels = [seen for _, (seen, _) in found]
    told = [(number, members) for number, (_, members) in found]
    boxed = [(number, of) for number, of in told if of.boxes is not None]
    values: dict[str, list[tuple[int, NDArray[np.bool_]]]] = {}
    for number, of in told:
        for ext, held in of.values.items():
            if held is not None:
                values.setdefault(ext, []).append((number, held))
    return Looked(
        np.array([number for number, _ in found], np.int64),
        np.array([seen.spread for seen in pixels], np.float64),
        np.array([seen.tint for seen in pixels], np.float64),
        np.array([seen.cut_off for seen in pixels], np.float64),
        np.array([seen.hash for seen in pixels], np.uint64),
        np.array([seen.mirrored for seen in pixels], np.uint64),
        np.array([seen.tiny for seen in pixels], np.uint8).reshape(-1, TINY * TINY),
        np.concatenate([np.zeros((0, 4)), *(of.boxes for _, of in boxed if of.boxes is not None)]),
        np.repeat([n for n, _ in boxed], [len(of.labels) for _, of in boxed]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *(of.labels for _, of in boxed)]),
        {number: of.fault for number, of in told if of.fault},
        {
            ext: (np.array([held for _, held in rows]), np.array([number for number, _ in rows]))
            for ext, rows in values.items()
        },
        np.array([(n, size) for n, of in told for size in of.captions], np.int64).reshape(-1, 2),
        done.damages,
    )


def _look(sample: Sample, reading: Reading) -> tuple[Pixels, OfMembers]:
    return _pixels(sample.drawn(_DRAWN)), _members(sample, reading)


def _pixels(drawn: NDArray[np.uint8]) -> Pixels:
    from PIL import Image, ImageOps

    values = drawn.reshape(-1, 3).astype(np.float32)
    grey = Image.fromarray(drawn).convert("L")
    tiny = grey.resize((TINY, TINY), Image.Resampling.BOX)
    return Pixels(
        float(values.std(axis=0).max()),
        float(np.ptp(values, axis=1).mean()),
        _cut_off(drawn),
        _hash(grey),
        _hash(ImageOps.mirror(grey)),
        np.asarray(tiny).ravel(),
    )


def _hash(grey: "Image") -> int:
    import imagehash

    return int.from_bytes(np.packbits(imagehash.phash(grey).hash).tobytes(), "big")


def _cut_off(drawn: NDArray[np.uint8]) -> float:
    """See `Pixels.cut_off`."""
    distance = np.abs(drawn.astype(np.int16) - _LACKING).max(axis=(1, 2))
    return int(np.argmax(np.append(distance[::-1], 256) > 1)) / len(drawn)


def _members(sample: Sample, reading: Reading) -> OfMembers:
    values = {ext: values_of(sample.mask(ext)) for ext in sample.members if is_mask(ext)}
    try:
        found = sample.annotated(reading)
    except (ValueError, RecursionError) as error:
        return OfMembers(None, np.zeros(0, np.int64), values, [], str(error))
    captions = [len(text.strip()) for text in found.captions]
    return OfMembers(found.boxes, found.labels, values, captions, "")
