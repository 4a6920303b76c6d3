"""Resize and turn boxes of many images into one batch at once.

A box is resized bilinearly without antialiasing, as `reader.decode.decoder` does on a CPU. If it
shrinks to half or less, whole squares of its pixels are averaged first. Every pixel of the output
is the weighted mean of four source pixels. Their offsets are a number for the output's row plus one
for its column, for any flips.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from reader.gpu_decode.parcels import Parcel

_MCU = 8  # rows of MCUs are shifted only where they are 8 pixels high


@dataclass(frozen=True)
class Source:
    pixels: Tensor
    shifts: NDArray[np.int64] | None = None


def resample(sources: list[Source | None], parcels: Parcel, out: Tensor) -> None:
    """Fill `out`, uint8 (B, H, W, 3), with the parcels' crops of the sources."""
    shrinks = _reductions(parcels)
    table = np.zeros((len(sources), len(_COLUMNS)), np.int64)
    flat: list[Tensor] = []
    shifts = [np.zeros(1, np.int64)]  # its entry is that of the images without shifts
    base = shift_base = 1
    for row, source in enumerate(sources):
        parcel = Parcel(*(int(column[row]) for column in parcels))
        shrink, pixels, top, left, own = int(shrinks[row]), None, parcel.top, parcel.left, None
        if source is not None:
            pixels, own = source.pixels, source.shifts
            if shrink > 1:
                pixels, top, left, own = _shrunk(source, parcel, shrink), 0, 0, None
        height, width = (1, 1) if pixels is None else pixels.shape[1:]
        table[row] = (
            0 if pixels is None else base + top * width + left,
            width,
            0 if pixels is None else height * width,
            max(parcel.box_height, 1),
            max(parcel.box_width, 1),
            shrink,
            top,
            0 if own is None else shift_base,
            0 if own is None else 1,
            *parcel[9:17],
        )
        if pixels is not None:
            flat.append(pixels.reshape(-1))
            base += pixels.numel()
        if own is not None:
            shifts.append(own)
            shift_base += len(own)
    device, (height, width) = out.device, out.shape[1:3]
    is_filled = (parcels.target_height < height) | (parcels.target_width < width)
    rows = dict(zip(_COLUMNS, sent(torch.from_numpy(table), device).T, strict=True))
    moved = sent(torch.from_numpy(np.concatenate(shifts)), device)
    nothing = torch.zeros(1, dtype=torch.uint8, device=device)
    _draw(torch.cat([nothing, *flat]), rows, moved, out, bool(is_filled.any()))


def sent(host: Tensor, device: torch.device) -> Tensor:
    """Return `host` on `device`; for a GPU the copy is queued, and `host` may be freed at once.

    torch keeps its page-locked memory until the copy has ended; CUDA may read other memory later.
    """
    if device.type == "cuda":
        host = host.pin_memory()
    return host.to(device, non_blocking=True)


# The columns of `resample`'s table: offset of a box in the first plane of the flat memory; pixels
# between rows and between planes; the box, before `shrink` pixels along each side became one; its
# first row in the image; its shifts, if any; and the parcel's fields.
_OWN = ("base", "width", "plane", "box_height", "box_width", "shrink", "top")
_COLUMNS = (*_OWN, "shift_base", "is_shifted", *Parcel._fields[9:17])

_Rows = dict[str, Tensor]  # int64 (B,) each


@dataclass(frozen=True)
class _Axis:
    places: Tensor  # int64 (B, 2, L), the lower and the upper source pixel
    weights: Tensor  # float32 (B, 2, L), of each of them
    is_inside: Tensor  # bool (B, L), whether the box covers it


def _draw(flat: Tensor, rows: _Rows, shifts: Tensor, out: Tensor, is_filled: bool) -> None:
    turned = rows["transpose"].bool()
    down = _axis(
        out.shape[1],
        rows["target_top"],
        rows["target_height"],
        rows["vflip"],
        torch.where(turned, rows["box_width"], rows["box_height"]),
        rows["shrink"],
    )
    across = _axis(
        out.shape[2],
        rows["target_left"],
        rows["target_width"],
        rows["hflip"],
        torch.where(turned, rows["box_height"], rows["box_width"]),
        rows["shrink"],
    )
    turned = turned[:, None, None]
    by_row = _offsets(down.places, ~turned, rows, shifts) + rows["base"][:, None, None]
    by_column = _offsets(across.places, turned, rows, shifts)
    total: list[Any] = [0.0, 0.0, 0.0]
    for upper in (0, 1):
        for right in (0, 1):
            at = by_row[:, upper, :, None] + by_column[:, right, None, :]
            weight = down.weights[:, upper, :, None] * across.weights[:, right, None, :]
            for channel in range(3):
                total[channel] = total[channel] + flat[at] * weight
                at = at + rows["plane"][:, None, None]
    for channel in range(3):
        out[..., channel] = total[channel].round_()
    if is_filled:
        is_inside = (down.is_inside[:, :, None] & across.is_inside[:, None, :])[..., None]
        fill = rows["fill"].to(torch.uint8)[:, None, None, None]
        torch.where(is_inside, out, fill, out=out)


def _axis(
    length: int, start: Tensor, extent: Tensor, is_flipped: Tensor, box: Tensor, shrink: Tensor
) -> _Axis:
    """Return the source of an axis: `extent` of its pixels from `start` show `box` pixels."""
    start, extent, is_flipped, box, shrink = (
        column[:, None] for column in (start, extent, is_flipped, box, shrink)
    )
    at = torch.arange(length, device=start.device) - start
    is_inside = (at >= 0) & (at < extent)
    at = torch.where(is_flipped.bool(), extent - 1 - at, at)
    last = (box + shrink - 1) // shrink - 1
    scale = box.double() / (shrink * extent.clamp(min=1))
    exact = torch.minimum(((at + 0.5) * scale - 0.5).clamp(min=0), last.double())
    lower = exact.long()
    upper = torch.minimum(lower + 1, last)
    weight = (exact - lower).float()
    return _Axis(torch.stack([lower, upper], 1), torch.stack([1 - weight, weight], 1), is_inside)


def _offsets(places: Tensor, is_vertical: Tensor, rows: _Rows, shifts: Tensor) -> Tensor:
    """Return offsets in an image's plane for places along its vertical or horizontal axis."""
    names = ("top", "width", "shift_base", "is_shifted")
    top, width, base, is_shifted = (rows[name][:, None, None] for name in names)
    mcu = base + (top + places) // _MCU
    shift = shifts[torch.where(is_vertical & is_shifted.bool(), mcu, 0)]
    return torch.where(is_vertical, places * width + shift, places)


def _shrunk(source: Source, parcel: Parcel, shrink: int) -> Tensor:
    """Return the parcel's box, each square of `shrink` x `shrink` pixels averaged to one."""
    top, left, height, width = parcel[5:9]
    box = source.pixels[:, top : top + height]
    if source.shifts is None:
        box = box[:, :, left : left + width]
    else:
        begin = torch.from_numpy(source.shifts[(top + np.arange(height)) // _MCU] + left)
        begin = sent(begin, box.device)
        columns = begin[:, None] + torch.arange(width, device=box.device)
        box = box.gather(2, columns.expand(3, -1, -1))
    mean = functional.avg_pool2d(box.float(), shrink, ceil_mode=True, count_include_pad=False)
    return mean.round_().to(torch.uint8)


def _reductions(parcels: Parcel) -> NDArray[np.int64]:
    """Return how many pixels become one along each side, at least; 1 if a box does not shrink."""
    turned = parcels.transpose == 1
    height = np.where(turned, parcels.target_width, parcels.target_height)
    width = np.where(turned, parcels.target_height, parcels.target_width)
    down = parcels.box_height // np.maximum(height, 1)
    across = parcels.box_width // np.maximum(width, 1)
    return np.maximum(np.minimum(down, across), 1)
