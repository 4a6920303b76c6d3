"""Rules about boxes, masks and captions of the samples looked at (pure)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.annotations import EMPTY, Reading
from packer.inspect.report.findings import SHOWN, WEIGHTS, Finding, finding_of, flagged
from packer.inspect.report.look import Looked
from packer.inspect.report.sample import VOID
from packer.inspect.report.table import Table
from packer.shards.frames import frame_lines
from packer.words import listed, many, shortened

_OUTSIDE = 1.5  # pixels beyond the image, for roundings
_OUTSIDE_PART = 0.005  # of its side, for fractions
_CORNER = 0.75  # of the image: if no box of many reaches beyond, they belong to smaller images
_MANY = 50  # boxes, masks
_FEW = 0.2  # of the images: so many are an exception
_RARE = 0.02  # of the masks


def object_findings(table: Table, looked: Looked, reading: Reading) -> Iterator[Finding]:
    if unread := list(looked.unread):
        title = "Annotations that cannot be read"
        sentence = f"The members of {many(len(unread), 'sample')} could not be read."
        lines = [(f"sample {number}", looked.unread[number]) for number in unread[:SHOWN]]
        kind = "unread_annotations"
        yield Finding(kind, "doubtful", title, sentence, len(unread), [unread], lines)
    if table.frames:
        count = sum(samples for samples, _ in table.frames.values())
        title, sentence = "Annotations of another picture", " ".join(frame_lines(table.frames))
        yield Finding("frames", "doubtful", title, sentence, count)
    if len(looked.boxes):
        yield from _boxes(table, looked, reading)
        yield from _without(looked)
    yield from _masks(table, looked)
    empty = np.unique(looked.captions[looked.captions[:, 1] == 0, 0])
    if len(empty):
        sentence = f"{many(len(empty), 'sample')} with a caption of no character."
        yield finding_of(empty, "empty_captions", "doubtful", "Empty captions", sentence)


def _boxes(table: Table, looked: Looked, reading: Reading) -> Iterator[Finding]:
    of, label = looked.box_sample, looked.box_label
    sides = np.stack([table.width[of], table.height[of]], axis=1)
    low, high = looked.boxes[:, :2], looked.boxes[:, 2:]
    empty = ((high - low) * sides < EMPTY).any(axis=1)
    beyond = np.maximum(_OUTSIDE, _OUTSIDE_PART * sides) / sides
    outside = ((low < -beyond) | (high > 1 + beyond)).any(axis=1)
    gone = ((high <= 0) | (low >= 1)).any(axis=1).sum()
    classes = len(table.classes)
    unnamed = (label >= classes) & (classes > 0)
    for kind, title, flags, sentence in (
        (
            *("empty_boxes", "Empty boxes", empty),
            f"{{boxes}} of {len(of):,}, less than a pixel high or wide, in {{images}}: a loss "
            "divides by their size, and `reader.Boxes` drops them.",
        ),
        (
            *("boxes_outside", "Boxes beyond their image", outside),
            f"{{boxes}} of {len(of):,} reach beyond the image"
            + f", {gone:,} of them entirely" * bool(gone)
            + ", in {images}: were images resized without their boxes?",
        ),
        (
            *("unknown_box_class", "Boxes of no class", unnamed),
            f"{{boxes}} with class numbers from {min(label[unnamed], default=0)} on, of "
            f"{classes:,} classes.",
        ),
    ):
        if flags.any():
            samples = np.unique(of[flags])
            boxes, images = many(int(flags.sum()), "box"), many(len(samples), "image")
            sentence = sentence.format(boxes=boxes, images=images)
            yield finding_of(samples, kind, "wrong", title, sentence)
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
    if not found.any():
        return
    reach = far[found & inside].max(axis=0)
    wider, higher = (f"{1 / part:,.1f}".removesuffix(".0") for part in reach.clip(1e-6).tolist())
    larger = f"{wider} times" if wider == higher else f"{wider} times as wide, {higher} times"
    sentence = (
        f"In {many(int(found.sum()), 'box')}"
        + f" in {listed([shortened(name, 60) for name in names])}" * (not found.all())
        + f", no corner is beyond {reach[0]:.0%} of the width and {reach[1]:.0%} of the "
        f"height; {larger} as {'large' if wider == higher else 'high'} they would fill it. "
        f"They are read as {reading.format}, {reading.source}; they may belong to smaller "
        "images, or be fractions instead of pixels."
    )
    samples, title = np.unique(of[found]), "Boxes only in the upper left"
    yield finding_of(samples, "boxes_in_corner", "wrong", title, sentence)


def _without(looked: Looked) -> Iterator[Finding]:
    read = np.setdiff1d(looked.numbers, list(looked.unread))
    lacks = np.isin(read, looked.box_sample, invert=True)
    if lacks.sum() <= _FEW * len(read):
        text = (
            "{have} no box, where the others have some: they show nothing of the classes, or "
            "nobody has annotated them."
        )
        rule = ("without_boxes", WEIGHTS[2], "Images without boxes", lacks, read, text)
        yield from flagged([rule], read, " of those looked at")


def _masks(table: Table, looked: Looked) -> Iterator[Finding]:
    for ext, (held, samples) in looked.values.items():
        # Classes of the samples themselves name no values of masks.
        named = len(table.classes) if not table.has_labels else 0
        values = np.arange(held.shape[1])
        found = held.any(axis=0) & (values != VOID)
        if named:
            beyond = found & (values > named)
            kind, title = "mask_beyond", "Masks with values beyond the classes"
            reason = (
                f"are beyond the {many(named, 'class')} with a name (0 is background, {VOID} "
                "is void)"
            )
        else:
            usual = found & (held.sum(axis=0) > _RARE * len(samples))
            highest = int(np.flatnonzero(usual).max(initial=0))
            is_semantic = len(samples) >= _MANY and usual.sum() <= len(values) // 2
            beyond = found & (values > highest) & is_semantic
            kind, title = "rare_mask_values", "Masks with rare values"
            reason = f"few of {many(len(samples), 'mask')} have, above the usual {highest}"
        if "instance" in ext or "panoptic" in ext or not beyond.any():
            continue
        with_them = samples[held[:, beyond].any(axis=1)]
        numbers = listed([str(value) for value in np.flatnonzero(beyond)])
        sentence = f"{many(len(with_them), 'mask')} (.{ext}) with values that {reason}: {numbers}."
        yield finding_of(with_them, kind, "wrong" if named else "doubtful", title, sentence)
