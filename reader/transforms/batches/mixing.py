"""Draw how the images of a batch are mixed: MixUp, CutMix, and choices between them.

What is drawn is a pure function of a batch's random stream and size. Groups of rows share it: all
rows, both rows of a pair, or each row alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.checks import is_count, is_number
from reader.errors import ArgumentError
from reader.geometry import Geometry
from reader.rng import BatchRandom, SampleRandom
from reader.transforms.choices import Choice, RandomApply, RandomChoice
from reader.transforms.transform import Transform

Size = tuple[int, int]  # height, width
Mode = Literal["batch", "pair", "elem"]


class Mixes(NamedTuple):
    """How each group of rows, or each row, is mixed with its partner."""

    shares: NDArray[np.float64]  # (N,): of its own pixels, in a mean with the partner's
    boxes: NDArray[np.int64]  # (N, 4): top, bottom, left, right, of which the partner's are shown

    def labels(self, size: Size) -> NDArray[np.float64]:
        """Return the share of each one's own label."""
        top, bottom, left, right = self.boxes.T
        covered = (bottom - top) * (right - left) / (size[0] * size[1])
        return self.shares * (1 - covered)

    @classmethod
    def none(cls, count: int) -> "Mixes":
        return cls(np.ones(count), np.zeros((count, 4), np.int64))


@dataclass(frozen=True)
class Mixing:
    """Base of the steps that mix the images and labels of a batch."""

    alpha: float = 1.0
    num_classes: int | None = None
    mode: Mode = "batch"
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        if not is_number(self.alpha) or self.alpha <= 0:
            raise ArgumentError(f"{self}: alpha is a number above 0.")
        if self.num_classes is not None and not is_count(self.num_classes):
            raise ArgumentError(f"{self}: num_classes is an integer of at least 1, or None.")
        if self.mode not in ("batch", "pair", "elem"):
            raise ArgumentError(f'{self}: mode is "batch", "pair" or "elem".')
        if not is_number(self.label_smoothing) or not 0 <= self.label_smoothing < 1:
            raise ArgumentError(f"{self}: label_smoothing is a number from 0 to below 1.")

    def draw(self, count: int, size: Size, rng: BatchRandom) -> Mixes:
        """Draw for `count` groups of images of `size`."""
        raise NotImplementedError

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Refuse to be a step on samples.

        Raises:
            ArgumentError: it is among the transforms.
        """
        name = type(self).__name__
        raise ArgumentError(
            f"{name} mixes the images of a batch. Write map_batch=reader.{name}(...), and leave it "
            "out of transforms=."
        )


@dataclass(frozen=True)
class MixUp(Mixing):
    """Means of two images and of their labels, for ``map_batch=``.

    Each image becomes ``share * image + (1 - share) * partner``, in the dtype of the batch. uint8
    images, which a Loader without a CUDAPrefetcher has, are rounded. Labels become float32
    (B, num_classes), mixed alike.

    Attributes:
        alpha: the share is drawn from Beta(alpha, alpha).
        num_classes: length of the labels; None for that of the dataset's `classes`.
        mode: "batch" for one share in a batch, whose images are mixed with the one before them, as
            in torchvision; "elem" for a share of each image, or "pair" of each two images, which
            are mixed with the one as far from the other end of the batch, as in timm.
        label_smoothing: share of a label that is spread over all classes.

    Example:
        >>> crop = [reader.RandomResizedCrop(64)]
        >>> mix = reader.MixUp(alpha=0.2)
        >>> loader = reader.Loader("shards", batch_size=4, transforms=crop, map_batch=mix)
        >>> images, labels = next(iter(reader.CUDAPrefetcher(loader)))
        >>> labels.shape == (4, len(loader.dataset.classes))
        True
    """

    __module__ = "reader"

    def draw(self, count: int, size: Size, rng: BatchRandom) -> Mixes:
        """Draw the shares."""
        return Mixes.none(count)._replace(shares=rng.beta(self.alpha))


@dataclass(frozen=True)
class CutMix(Mixing):
    """A box of another image in each image, for ``map_batch=``.

    The label is mixed by the area of the box: float32 (B, num_classes).

    Attributes:
        alpha: the share of the area outside of the box is drawn from Beta(alpha, alpha); the part
            of the box beyond the image's edge is left out.
        num_classes, mode, label_smoothing: as of `MixUp`; images in a group have the same box.
        minmax: ``(least, most)`` shares of the box's sides, in place of `alpha`.

    Example:
        >>> crop = [reader.RandomResizedCrop(64)]
        >>> mix = reader.RandomChoice([reader.MixUp(alpha=0.2), reader.CutMix()])
        >>> loader = reader.Loader("shards", batch_size=4, transforms=crop, map_batch=mix)
        >>> images, labels = next(iter(reader.CUDAPrefetcher(loader)))
        >>> labels.dtype, float(labels.sum())
        (torch.float32, 4.0)
    """

    __module__ = "reader"

    minmax: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        ends: Any = self.minmax
        is_fit = isinstance(ends, Sequence) and len(ends) == 2 and all(map(is_number, ends))
        if ends is not None and not (is_fit and 0 <= ends[0] <= ends[1] <= 1):
            raise ArgumentError(f"{self}: minmax is (least, most), shares from 0 to 1, or None.")

    def draw(self, count: int, size: Size, rng: BatchRandom) -> Mixes:
        """Draw the boxes: a middle anywhere, or with `minmax` a place where the box is whole."""
        sides = self._whole(size, rng) if self.minmax else self._clipped(size, rng)
        return Mixes.none(count)._replace(boxes=np.column_stack(sides))

    def _clipped(self, size: Size, rng: BatchRandom) -> list[NDArray[np.int64]]:
        half = 0.5 * np.sqrt(1 - rng.beta(self.alpha))
        sides = []
        for length in size:
            middle, reach = _below(length, rng), (half * length).astype(np.int64)
            sides += [np.maximum(middle - reach, 0), np.minimum(middle + reach, length)]
        return sides

    def _whole(self, size: Size, rng: BatchRandom) -> list[NDArray[np.int64]]:
        assert self.minmax is not None
        sides = []
        for length in size:
            least, most = (int(length * share) for share in self.minmax)
            extent = least + _below(max(most - least, 1), rng)
            first = _below(np.maximum(length - extent, 1), rng)
            sides += [first, first + extent]
        return sides


def _below(bound: Any, rng: BatchRandom) -> NDArray[np.int64]:
    """Draw integers from 0 to below a bound, or those of an array."""
    below: NDArray[np.int64] = (rng.uniform() * bound).astype(np.int64)
    return below


def mixings(step: Transform) -> list[Mixing]:
    """Return the steps that a step on batches may do, by itself or as a choice.

    Raises:
        ArgumentError: it is, or chooses, none, or chooses among some that cannot be drawn together.
    """
    if isinstance(step, Mixing):
        return [step]
    if isinstance(step, (RandomApply, RandomChoice)):
        name = type(step).__name__
        found = [mixing for one in step.transforms for mixing in mixings(one)]
        if isinstance(step, RandomApply) and len(step.transforms) > 1:
            raise ArgumentError(
                f"{name} of several steps cannot mix a batch. Give it one, such as a "
                "reader.RandomChoice of them."
            )
        if len({(one.mode, one.num_classes, one.label_smoothing) for one in found}) > 1:
            raise ArgumentError(
                f"{name}: its steps differ in mode, num_classes or label_smoothing. Give them the "
                "same."
            )
        return found
    raise ArgumentError(
        f"map_batch takes a function, reader.MixUp, reader.CutMix, and reader.RandomChoice or "
        f"reader.RandomApply of these two, not {step!r:.200}."
    )


def drawn(step: Transform, mode: Mode, rows: int, size: Size, rng: SampleRandom) -> Mixes:
    """Draw how each of the rows of a batch is mixed."""
    places = np.arange(rows)
    if mode == "batch":
        groups = np.zeros_like(places)
    else:
        groups = places if mode == "elem" else np.minimum(places, rows - 1 - places)
    count = int(groups.max()) + 1
    found = _draw(step, count, size, BatchRandom(rng.key(), 0, np.arange(count)))
    return Mixes(found.shares[groups], found.boxes[groups])


def _draw(step: Transform, count: int, size: Size, rng: BatchRandom) -> Mixes:
    if isinstance(step, Mixing):
        return step.draw(count, size, rng)
    assert isinstance(step, (RandomApply, RandomChoice))
    if isinstance(step, RandomApply):
        ways, bounds = [_draw(step.transforms[0], count, size, rng), Mixes.none(count)], [step.p, 1]
    else:
        ways = [_draw(one, count, size, rng) for one in step.transforms]
        bounds = np.cumsum([1] * len(ways) if step.p is None else step.p)  # type: ignore[assignment]
    chosen = np.searchsorted(bounds, rng.uniform() * bounds[-1], side="right")
    chosen = np.minimum(chosen, np.searchsorted(bounds, bounds[-1]))  # if the product is rounded up
    rows = np.arange(count)
    shares, boxes = (np.stack(parts)[chosen, rows] for parts in zip(*ways, strict=True))
    return Mixes(shares, boxes)


def is_mixing(given: object) -> bool:
    """Whether it is a step on batches, or one that chooses among others, of any kind."""
    return isinstance(given, (Mixing, Choice))
