"""Reads samples and keeps numbers of them: what the rules ask for that no index knows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.annotations import Reading
from packer.inspect.report.sample import Sample, map_samples, mask_values
from packer.progress import Progress

if TYPE_CHECKING:
    from PIL.Image import Image

    from reader import Dataset

Pixels = tuple[float, float, float, int, int, NDArray[np.uint8]]  # from spread to tiny

_DRAWN = 128  # pixels of the longer side, at which an image is looked at
_LACKING = 128  # in all channels
TINY = 16  # pixels, squared: what near duplicates are compared by


class Members(NamedTuple):
    """What one sample's members hold: boxes in fractions of the upright image."""

    values: dict[str, NDArray[np.bool_] | None]  # by mask `mask_values`
    boxes: NDArray[np.float64]  # (M, 4)
    labels: NDArray[np.int64]
    captions: list[int]  # lengths of its texts
    fault: str  # why its annotations could not be read


@dataclass(frozen=True)
class Looked:
    """What is known of the samples that were looked at; N of them, M boxes in all."""

    numbers: NDArray[np.int64]  # ascending
    spread: NDArray[np.float64]  # the standard deviation of the channel that varies most
    tint: NDArray[np.float64]  # how far the channels lie apart on average; 0: it is grey
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
    done = map_samples(dataset, numbers, partial(_look, reading=reading), jobs, progress, "look")
    found = sorted(done.results.items())
    kinds = (np.float64, np.float64, np.float64, np.uint64, np.uint64, np.uint8)
    spread, tint, cut_off, hashes, mirrored, tiny = (
        np.array([seen[at] for _, (seen, _) in found], kind) for at, kind in enumerate(kinds)
    )
    members = [(number, held) for number, (_, held) in found]
    values: dict[str, list[tuple[int, NDArray[np.bool_]]]] = {}
    for number, held in members:
        for ext, occurs in held.values.items():
            if occurs is not None:
                values.setdefault(ext, []).append((number, occurs))
    return Looked(
        np.array([number for number, _ in found], np.int64),
        *(spread, tint, cut_off, hashes, mirrored),
        tiny.reshape(-1, TINY * TINY),
        np.concatenate([np.zeros((0, 4)), *(m.boxes for _, m in members)]),
        np.repeat([n for n, _ in members], [len(m.labels) for _, m in members]).astype(np.int64),
        np.concatenate([np.zeros(0, np.int64), *(m.labels for _, m in members)]),
        {number: held.fault for number, held in members if held.fault},
        {
            ext: (np.array([occurs for _, occurs in rows]), np.array([n for n, _ in rows]))
            for ext, rows in values.items()
        },
        np.array([(n, size) for n, m in members for size in m.captions], np.int64).reshape(-1, 2),
        done.damages,
    )


def _look(sample: Sample, reading: Reading) -> tuple[Pixels, Members]:
    pixels = _pixels(sample.drawn(_DRAWN))
    values = {ext: mask_values(mask) for ext, mask in sample.masks()}
    found, fault = sample.annotated(reading)
    captions = [len(text.strip()) for text in found.captions]
    return pixels, Members(values, found.boxes, found.labels, captions, fault)


def _pixels(drawn: NDArray[np.uint8]) -> Pixels:
    from PIL import Image, ImageOps

    values = drawn.reshape(-1, 3).astype(np.float32)
    grey = Image.fromarray(drawn).convert("L")
    tiny = grey.resize((TINY, TINY), Image.Resampling.BOX)
    return (
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
    """How much of its height, at the bottom, is the grey of which a decoder makes what lacks."""
    distance = np.abs(drawn.astype(np.int16) - _LACKING).max(axis=(1, 2))
    return int(np.argmax(np.append(distance[::-1], 256) > 1)) / len(drawn)
