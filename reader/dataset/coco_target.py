"""The target of torchvision's CocoDetection: annotations of the picture as it is delivered."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.decode.plan import plan
from reader.decode.stored import StoredImage
from reader.format.columns import Column
from reader.format.frames import UPRIGHT, Frame, Packed, frame_in
from reader.geometry import Geometry

_OF_PACKER = ("image", "boxes", "categories", "captions")
_UNIT = np.array([(0, 0), (1, 0), (0, 1)], np.float64)
_HALF = 0.5  # of a pixel: its middle

Points = NDArray[np.float64]  # (N, 2) as x and y


def coco_target(
    data: bytes, image: StoredImage, columns: Mapping[str, Column], row: int
) -> list[dict[str, Any]]:
    """Return the annotations of an image as in its annotation file, with category ids.

    Their numbers are those of the file where the picture is, too. Where it is turned or resized,
    boxes, polygons, run lengths, key points and areas are of the picture as it is delivered.
    """
    content = json.loads(data)
    if not isinstance(content, dict) or "image" not in content or "categories" not in content:
        raise ValueError("it has no objects of a COCO annotation file")
    names = {name: values for name, values in content.items() if name not in _OF_PACKER}
    if "boxes" in content:
        names["bbox"] = content["boxes"]
    count = len(content["categories"])
    if count and "category_id" not in names:
        raise ValueError("it has no category ids; pack the dataset again")
    found = [
        {
            "image_id": content["image"]["id"],
            **{name: values[at] for name, values in names.items() if values[at] is not None},
        }
        for at in range(count)
    ]
    frame = Frame(Packed.of_row(columns, row), frame_in(columns, row, "json") == UPRIGHT)
    way = _Way(image, frame)
    return found if way.is_none else [one for each in found if (one := way.carried(each))]


class _Way:
    """The way from an annotation's picture to the one that is delivered."""

    def __init__(self, image: StoredImage, frame: Frame) -> None:
        self._height, self._width = image.upright_size
        view = plan(image, Geometry.of(*image.upright_size))
        origin, across, down = view.carry(frame.to_stored(_UNIT))
        self._linear, self._origin = np.stack([across - origin, down - origin]), origin
        self._is_cropped = frame.image.is_fitted
        self._size = frame.size
        same = self._size == image.upright_size and np.allclose([origin, across, down], _UNIT)
        self.is_none = bool(same)

    def carried(self, given: dict[str, Any]) -> dict[str, Any] | None:
        """Return an annotation as it is in the picture; None if a crop left nothing of it."""
        found, share = dict(given), 1.0
        if "bbox" in given:
            x, y, width, height = given["bbox"]
            low, high = self._sorted(np.array([(x, y), (x + width, y + height)], np.float64))
            if self._is_cropped:
                whole, limits = high - low, (self._width, self._height)
                low, high = low.clip(0, limits), high.clip(0, limits)
                if (high <= low).any():
                    return None
                share = float(np.prod((high - low) / whole))
            found["bbox"] = [*low.tolist(), *(high - low).tolist()]
        if isinstance(area := given.get("area"), int | float):
            found["area"] = area * abs(float(np.linalg.det(self._linear))) * share
        segmentation = given.get("segmentation")
        if isinstance(segmentation, list):
            found["segmentation"] = [self._polygon(polygon) for polygon in segmentation]
        elif isinstance(segmentation, Mapping) and "counts" in segmentation:
            found["segmentation"] = self._run_lengths(segmentation)
        if isinstance(given.get("keypoints"), list):
            found["keypoints"] = self._keypoints(given["keypoints"])
        return found

    def _points(self, points: Points) -> Points:
        return points @ self._linear + self._origin

    def _sorted(self, corners: Points) -> Points:
        return np.sort(self._points(corners), axis=0)

    def _polygon(self, numbers: Sequence[float]) -> list[float]:
        points = self._points(np.asarray(numbers, np.float64).reshape(-1, 2))
        if self._is_cropped:
            points = points.clip(0, (self._width, self._height))
        return [float(number) for number in points.ravel()]

    def _keypoints(self, numbers: Sequence[float]) -> list[float]:
        rows = np.asarray(numbers, np.float64).reshape(-1, 3)
        labelled = rows[:, 2] > 0
        points = self._points(rows[:, :2] + _HALF)
        inside = ((points >= 0) & (points <= (self._width, self._height))).all(axis=1)
        keep = labelled & (inside | (not self._is_cropped))
        rows = np.where(keep[:, None], np.column_stack([points - _HALF, rows[:, 2]]), 0)
        return [float(number) for number in rows.ravel()]

    def _run_lengths(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a mask in COCO's run lengths, as numbers or compressed, like the given one."""
        height, width = map(int, given["size"])
        if (height, width) != self._size:
            raise ValueError(f"a mask of it has {width} x {height} pixels, and its image others")
        is_text = isinstance(given["counts"], str)
        counts = _numbers(given["counts"]) if is_text else given["counts"]
        values = np.repeat(np.arange(len(counts)) % 2, counts)
        mask = values.reshape(width, height).T  # by columns
        across, down = np.arange(self._width) + _HALF, np.arange(self._height) + _HALF
        grid = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
        at = np.floor((grid - self._origin) @ np.linalg.inv(self._linear)).astype(np.int64)
        columns, rows = at.clip(0, (width - 1, height - 1)).T
        seen = mask[rows, columns].reshape(self._height, self._width)
        edges = np.flatnonzero(np.diff(seen.T.ravel(), prepend=0, append=-1))
        runs = np.diff(edges, prepend=0).tolist()
        return {"size": [self._height, self._width], "counts": _text(runs) if is_text else runs}


def _numbers(text: str) -> list[int]:
    """Return the run lengths of COCO's compressed text: 5 bits a sign, differences from the 4th."""
    counts: list[int] = []
    value = shift = 0
    for sign in text.encode():
        bits = sign - 48
        value |= (bits & 0x1F) << shift
        shift += 5
        if not bits & 0x20:
            value -= (bits & 0x10) << (shift - 4)
            counts.append(value + (counts[-2] if len(counts) > 2 else 0))
            value = shift = 0
    return counts


def _text(counts: Sequence[int]) -> str:
    signs = []
    for at, count in enumerate(counts):
        rest = count - (counts[at - 2] if at > 2 else 0)
        while True:
            bits, rest = rest & 0x1F, rest >> 5
            is_last = rest == (-1 if bits & 0x10 else 0)
            signs.append(chr(48 + bits + 0x20 * (not is_last)))
            if is_last:
                break
    return "".join(signs)
