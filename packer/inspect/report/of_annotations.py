"""Rules about boxes, masks and captions of the samples looked at (pure)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.annotations import EMPTY, Reading
from packer.inspect.report.finding import SHOWN, Finding, examples
from packer.inspect.report.look import Looked
from packer.inspect.report.masks import VOID
from packer.inspect.report.table import Table
from packer.words import have, listed, many, share, shortened

_OUTSIDE = 1.5  # pixels beyond the image, for roundings
_OUTSIDE_PART = 0.005  # of its side, for fractions
_CORNER = 0.75  # of the image: if no box of many reaches beyond, they belong to smaller images
_MANY = 50  # boxes, masks
_FEW = 0.2  # of the images: so many are an exception
_RARE = 0.02  # of the masks


def of_annotations(table: Table, looked: Looked, reading: Reading) -> Iterator[Finding]:
    """Boxes that cannot be right, and masks and captions that may not be."""
    if looked.unread:
        yield Finding(
            "unread_annotations",
            "doubtful",
            "Annotations that were not understood",
            f"The members of {many(len(looked.unread), 'sample')} could not be read.",
            len(looked.unread),
            examples(list(looked.unread)),
            [
                (f"sample {number}", reason)
                for number, reason in list(looked.unread.items())[:SHOWN]
            ],
        )
    if len(looked.boxes):
        yield from _boxes(table, looked, reading)
        yield from _without(looked)
    yield from _masks(table, looked)
    empty = np.unique(looked.captions[looked.captions[:, 1] == 0, 0])
    if len(empty):
        yield Finding(
            "empty_captions",
            "doubtful",
            "Empty captions",
            f"{many(len(empty), 'sample')} with a caption of no character.",
            len(empty),
            examples(empty),
        )


def _boxes(table: Table, looked: Looked, reading: Reading) -> Iterator[Finding]:
    of = looked.box_sample
    sides = np.stack([table.width[of], table.height[of]], axis=1)
    low, high = looked.boxes[:, :2], looked.boxes[:, 2:]
    pixels = (high - low) * sides
    empty = (pixels < EMPTY).any(axis=1)
    if empty.any():
        samples = np.unique(of[empty])
        yield Finding(
            "empty_boxes",
            "wrong",
            "Empty boxes",
            f"{many(int(empty.sum()), 'box')} of {len(of):,}, less than a pixel high or wide, in "
            f"{many(len(samples), 'image')}: a loss divides by their size, and `reader.Boxes` "
            "drops them.",
            len(samples),
            examples(samples),
        )
    beyond = np.maximum(_OUTSIDE, _OUTSIDE_PART * sides) / sides
    outside = ((low < -beyond) | (high > 1 + beyond)).any(axis=1)
    if outside.any():
        samples = np.unique(of[outside])
        gone = ((high <= 0) | (low >= 1)).any(axis=1)
        yield Finding(
            "boxes_outside",
            "wrong",
            "Boxes beyond their image",
            f"{many(int(outside.sum()), 'box')} of {len(of):,} reach beyond the image"
            + f", {gone.sum():,} of them entirely" * bool(gone.any())
            + f", in {many(len(samples), 'image')}: "
            "were images resized without their boxes?",
            len(samples),
            examples(samples),
        )
    unnamed = looked.box_label >= max(len(table.classes), 1)
    if table.classes and unnamed.any():
        samples = np.unique(of[unnamed])
        yield Finding(
            "unknown_box_class",
            "wrong",
            "Boxes of no class",
            f"{many(int(unnamed.sum()), 'box')} with class numbers from "
            f"{looked.box_label[unnamed].min()} on, of {len(table.classes):,} classes.",
            len(samples),
            examples(samples),
        )
    yield from _in_corner(table, looked, reading, ~outside)


def _in_corner(
    table: Table, looked: Looked, reading: Reading, inside: NDArray[np.bool_]
) -> Iterator[Finding]:
    """By split: one may come from another tool than the others."""
    of, far = looked.box_sample, looked.boxes[:, 2:]
    found, names = np.zeros_like(inside), []
    for place, split in enumerate(table.splits):
        boxes = table.split[of] == place
        reach = far[boxes & inside].max(axis=0, initial=0)
        begin = looked.boxes[boxes & inside, :2].min(axis=0, initial=1)
        is_aside = (1 - reach > 2 * begin).all()  # what is centred is not
        if boxes.sum() >= _MANY and 0 < reach.max() < _CORNER and is_aside:
            found |= boxes
            names.append(split)
    if found.any():
        reach = far[found & inside].max(axis=0)
        samples = np.unique(of[found])
        told = "as was told" if reading.is_told else "as dataset.json records"
        wider, higher = (
            f"{1 / part:,.1f}".removesuffix(".0") for part in reach.clip(1e-6).tolist()
        )
        larger = f"{wider} times" if wider == higher else f"{wider} times as wide, {higher} times"
        yield Finding(
            "boxes_in_corner",
            "wrong",
            "Boxes in the upper left alone",
            f"Of {many(int(found.sum()), 'box')}"
            + f" in {listed([shortened(name, 60) for name in names])}" * (not found.all())
            + f", none reaches beyond {reach[0]:.0%} of the width and {reach[1]:.0%} of the "
            f"height; {larger} as {'large' if wider == higher else 'high'} they would fill it. "
            f"Read as {reading.format}, {told}, they may be those of smaller images, or fractions "
            "taken for pixels.",
            len(samples),
            examples(samples),
        )


def _without(looked: Looked) -> Iterator[Finding]:
    read = np.setdiff1d(looked.numbers, list(looked.unread))
    lacking = np.setdiff1d(read, looked.box_sample)
    if 0 < len(lacking) <= _FEW * len(read):
        yield Finding(
            "without_boxes",
            "notable",
            "Images without boxes",
            f"{many(len(lacking), 'image')} ({share(len(lacking), len(read))} of those looked at) "
            f"{have(len(lacking))} no box, where the others have some: they show nothing of the "
            "classes, or nobody has annotated them.",
            len(lacking),
            examples(lacking),
        )


def _masks(table: Table, looked: Looked) -> Iterator[Finding]:
    for ext, (held, samples) in looked.values.items():
        # Classes of the samples themselves name no values of masks.
        named = len(table.classes) if not table.has_labels else 0
        values = np.arange(held.shape[1])
        counts = held.sum(axis=0)
        if named:
            beyond = (values > named) & (values != VOID) & (counts > 0)
            kind, title = "mask_beyond", "Masks with values beyond the classes"
            told = (
                f"are beyond the {many(named, 'class')} with a name (0 is taken for background, "
                f"{VOID} for void)"
            )
        else:
            usual = (counts > _RARE * len(samples)) & (values != VOID)
            highest = int(np.flatnonzero(usual).max(initial=0))
            is_semantic = len(samples) >= _MANY and usual.sum() <= len(values) // 2
            beyond = is_semantic & (counts > 0) & (values > highest) & (values != VOID)
            kind, title = "rare_mask_values", "Masks with values that hardly any other has"
            told = (
                f"hardly any other of {many(len(samples), 'mask')} has, above the usual {highest}"
            )
        if "instance" in ext or "panoptic" in ext or not beyond.any():
            continue
        with_them = samples[held[:, beyond].any(axis=1)]
        numbers = [str(value) for value in np.flatnonzero(beyond)]
        yield Finding(
            kind,
            "wrong" if named else "doubtful",
            title,
            f"{many(len(with_them), 'mask')} (.{ext}) with values that {told}: {listed(numbers)}.",
            len(with_them),
            examples(with_them),
        )
