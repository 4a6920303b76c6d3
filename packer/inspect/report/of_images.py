"""Rules about single images: sizes from the indexes, pixels from those looked at (pure)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.finding import Finding, examples
from packer.inspect.report.look import Looked
from packer.inspect.report.table import Table
from packer.words import are, have, many, share

_SMALL = 0.25  # of the usual shorter side
_SMALL_PIXELS = 64  # a larger one is not tiny
_LARGE = 16  # times the usual pixels
_LARGE_PIXELS = 4_000_000  # fewer are not huge
_LONG = 4.0  # width to height, or the other way
_LONGER = 2.5  # times the usual ratio
UNIFORM = 2.5  # standard deviation of values from 0 to 255
_GREY = 1.0  # mean distance of the channels
_LACKING = 1 / 16  # of the height
_FEW = 0.2  # of all: so many are an exception


def of_images(table: Table, looked: Looked) -> Iterator[Finding]:
    """Images that are unlike the others, or show nothing."""
    if not len(table):
        return
    yield from _damaged(looked)
    yield from _sizes(table)
    yield from _pixels(table, looked)


def _damaged(looked: Looked) -> Iterator[Finding]:
    if looked.damages:
        count = len(looked.damages)
        yield Finding(
            "damaged",
            "wrong",
            "Damaged samples",
            f"{many(count, 'sample')} of the {looked.count:,} looked at cannot be read. "
            "`packer verify` names all of them, `packer repair` makes them again.",
            count,
            [],
            [(f"sample {number}", reason) for number, reason in sorted(looked.damages.items())],
        )


def _sizes(table: Table) -> Iterator[Finding]:
    short, long = table.short, table.long
    pixels = short * long
    usual_side, usual_pixels = float(np.median(short)), float(np.median(pixels))
    tiny = np.flatnonzero((short < _SMALL_PIXELS) & (short < _SMALL * usual_side))
    if len(tiny):
        order = tiny[np.argsort(short[tiny], kind="stable")]
        yield Finding(
            "tiny",
            "doubtful",
            "Tiny images",
            f"{_part(tiny, table)} {are(len(tiny))} less than "
            f"{min(_SMALL_PIXELS, _SMALL * usual_side):.0f} pixels high or wide, where the usual "
            f"shorter side is {usual_side:.0f}: thumbnails or icons, which a crop makes a blur.",
            len(tiny),
            examples(order),
        )
    huge = np.flatnonzero((pixels >= _LARGE_PIXELS) & (pixels > _LARGE * usual_pixels))
    if len(huge):
        order = huge[np.argsort(-pixels[huge], kind="stable")]
        yield Finding(
            "huge",
            "doubtful",
            "Huge images",
            f"{_part(huge, table)} {have(len(huge))} more than "
            f"{_LARGE} times the usual {usual_pixels / 1e6:.2g} megapixels, up to "
            f"{pixels[huge].max() / 1e6:.3g}: they decode slowly, and `packer pack --max-side` "
            "shrinks them.",
            len(huge),
            examples(order),
        )
    ratio = long / short.clip(1)
    limit = max(_LONG, _LONGER * float(np.median(ratio)))
    long_ones = np.flatnonzero(ratio > limit)
    if len(long_ones):
        order = long_ones[np.argsort(-ratio[long_ones], kind="stable")]
        yield Finding(
            "extreme_ratio",
            "doubtful",
            "Extreme shapes",
            f"{_part(long_ones, table)} {are(len(long_ones))} more than {limit:.3g} times "
            f"as long as wide, up to {ratio.max():,.1f}: a square crop shows little of them.",
            len(long_ones),
            examples(order),
        )


def _part(numbers: NDArray[np.int64], table: Table) -> str:
    """How many of all samples."""
    return f"{many(len(numbers), 'image')} ({share(len(numbers), len(table))})"


def _pixels(table: Table, looked: Looked) -> Iterator[Finding]:
    count = len(looked.numbers)
    uniform = looked.spread < UNIFORM
    if uniform.any():
        yield Finding(
            "uniform",
            "doubtful",
            "Images of one colour",
            f"{many(int(uniform.sum()), 'image')} ({share(int(uniform.sum()), count)} of those "
            "looked at) of nothing but one colour: a failed download, or a frame that is black.",
            int(uniform.sum()),
            examples(looked.numbers[uniform]),
        )
    cut_off = (looked.cut_off >= _LACKING) & ~uniform
    if cut_off.any():
        order = np.argsort(-looked.cut_off[cut_off], kind="stable")
        yield Finding(
            "cut_off",
            "doubtful",
            "Images that end in grey",
            f"{many(int(cut_off.sum()), 'image')} ({share(int(cut_off.sum()), count)} of those "
            "looked at) whose lower part is the even grey that decoders put in the place of what "
            "a file lacks: a download that broke off.",
            int(cut_off.sum()),
            examples(looked.numbers[cut_off][order]),
        )
    grey = looked.tint < _GREY
    rest = grey & ~uniform
    if rest.any() and grey.mean() <= _FEW:
        stored = table.channels[looked.numbers[rest]] < 3
        yield Finding(
            "grey",
            "notable",
            "Grey images among colour",
            f"{many(int(rest.sum()), 'image')} ({share(int(rest.sum()), count)} of those looked "
            f"at) without colour, {stored.sum():,} of them stored with one channel, where the "
            "others of the dataset are in colour.",
            int(rest.sum()),
            examples(looked.numbers[rest]),
        )
