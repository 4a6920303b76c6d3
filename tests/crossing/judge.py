"""Judges a delivered sample by its own pixels, and by what is true of the one that they show."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from crossing.scenes import BACKGROUNDS, BRIGHT, CLASSES, Scene, Thing

_LUMA = np.array([0.299, 0.587, 0.114])
_DARK = np.array(BACKGROUNDS)
_NEAR = 24  # what lossy formats and borders change of a colour, at most
_LEAST = 3  # pixels of a side that can be judged
_OFF = 1.5  # pixels of the smaller of both pictures


class Wrong(AssertionError):
    """What a sample shows is not what is said of it."""


@dataclass(frozen=True)
class Patch:
    """An object as a picture shows it."""

    box: tuple[int, int, int, int]
    pixels: NDArray[np.bool_]  # of the whole picture
    is_cut: bool  # by the picture's edge


@dataclass
class Seen:
    """A delivered sample, or a view of one."""

    image: NDArray[np.uint8]  # (H, W, 3), or (H, W, 1) if it is grey
    scenes: Sequence[Scene]
    is_cut: bool = False  # packing has cut its edges
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def is_grey(self) -> bool:
        return self.image.shape[2] == 1

    @cached_property
    def scene(self) -> Scene:
        """The scene whose background it has."""
        if self.is_grey:
            distances = abs(self.image.astype(float) - _DARK @ _LUMA)
            votes = (distances < 5) & (distances == distances.min(axis=-1, keepdims=True))
        else:
            distances = abs(self.image[..., None, :].astype(int) - _DARK).max(axis=-1)
            votes = distances < _NEAR
        counts = votes.sum(axis=(0, 1))
        number = int(counts.argmax())
        if counts[number] < self.image.shape[0] * self.image.shape[1] / 12:
            raise Wrong(f"no sample has this background: {np.median(self.image, axis=(0, 1))}")
        found = [scene for scene in self.scenes if scene.number == number]
        if not found:
            raise Wrong(f"sample {number} is not in this source")
        return found[0]

    @property
    def slack(self) -> float:
        """How many pixels a border may be off."""
        scales = [ours / its for ours, its in zip(self.image.shape, self.sides, strict=False)]
        return _OFF * max(1, *scales)

    @property
    def sides(self) -> tuple[int, int]:
        width, height = self.scene.upright_size
        return height, width

    @cached_property
    def bright(self) -> NDArray[np.bool_]:
        """The pixels of objects."""
        luma = self.image @ (np.ones(1) if self.is_grey else _LUMA)
        dark = float(np.array(BACKGROUNDS[self.scene.number]) @ _LUMA)
        return np.asarray(luma > max((dark + 205) / 2, 125))  # a Letterbox has 114

    @cached_property
    def patches(self) -> dict[tuple[int, int], Patch]:
        """The objects that it shows, by class and number."""
        count, parts, boxes, _ = cv2.connectedComponentsWithStats(self.bright.astype(np.uint8))
        height, width = self.bright.shape
        found = {}
        for n in range(1, count):
            x, y, w, h, area = boxes[n].tolist()
            if min(w, h) < _LEAST or area < _LEAST**2:
                continue
            is_cut = self.is_cut or x == 0 or y == 0 or x + w == width or y + h == height
            patch = Patch((x, y, x + w, y + h), parts == n, is_cut)
            thing = self._thing(patch)
            if (thing.label, thing.number) in found:
                raise Wrong(f"object {thing.number} is there twice")
            found[thing.label, thing.number] = patch
        return found

    def _thing(self, patch: Patch) -> Thing:
        inner = cv2.erode(patch.pixels.astype(np.uint8), np.ones((3, 3))).astype(bool)
        color = np.median(self.image[inner if inner.any() else patch.pixels], axis=0)
        places = [(label, number) for label in range(len(CLASSES)) for number in (0, 1)]
        if self.is_grey:
            places = [(thing.label, thing.number) for thing in self.scene.things]
            far = [abs(color[0] - np.array(BRIGHT[a][b]) @ _LUMA) for a, b in places]
        else:
            far = [abs(color - BRIGHT[a][b]).max() for a, b in places]
        label, number = places[int(np.argmin(far))]
        for thing in self.scene.things:
            if (thing.label, thing.number) == (label, number) and min(far) < 60:
                return thing
        raise Wrong(f"sample {self.scene.number} has no object of the colour {color}")

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]


def check(is_right: object, *said: object) -> None:
    if not is_right:
        raise Wrong(" ".join(map(str, said)))


def filled(corners: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the pixels whose middles lie in a polygon."""
    height, width = shape[:2]
    large = np.zeros((height * 4, width * 4), np.uint8)
    cv2.fillPoly(large, [(corners * 4 - 0.5).round().astype(np.int32)], 1)
    return np.asarray(large.reshape(height, 4, width, 4).mean(axis=(1, 3)) > 0.5)


def _grown(pixels: NDArray[np.bool_], by: float) -> NDArray[np.bool_]:
    side = 2 * math.ceil(by) + 1
    return np.asarray(cv2.dilate(pixels.astype(np.uint8), np.ones((side, side)))).astype(bool)


def judge_boxes(seen: Seen, boxes: Mapping[str, Any], classes: Sequence[str], least: float) -> None:
    """Judge corners (N, 4) with ``kept`` and maybe ``labels``; smaller ones may be left out."""
    corners, kept = np.asarray(boxes["boxes"]), np.asarray(boxes["kept"]).tolist()
    things = [(thing.label, thing.number) for thing in seen.scene.things]
    check(len(set(kept)) == len(kept), "an object comes twice:", kept)
    found = dict(zip(kept, corners, strict=True))
    if "labels" in boxes:
        told = [classes[label] for label in np.asarray(boxes["labels"]).tolist()]
        true = [CLASSES[things[number][0]] for number in kept]
        check(told == true, "classes of objects are", told, "not", true)
    for at, place in enumerate(things):
        patch, box = seen.patches.get(place), found.pop(at, None)
        if patch is None or box is None:
            shown = patch.box if patch else box
            is_small = shown is None or min(shown[2] - shown[0], shown[3] - shown[1]) < least
            check(is_small, f"object {at} has a box {box} and is seen at {patch and patch.box}")
            continue
        _judge_box(box, patch, seen.slack, at, is_whole=not at)
    check(not found, "boxes of no object:", found)


def _judge_box(box: Any, patch: Patch, slack: float, at: int, *, is_whole: bool) -> None:
    off = np.subtract(box, patch.box)
    outer = max(off[0], off[1], -off[2], -off[3])  # how far the object reaches out of it
    inner = -min(off[0], off[1], -off[2], -off[3])
    is_right = outer <= slack and (inner <= slack or (patch.is_cut and not is_whole))
    check(is_right, f"object {at} is at {patch.box}, its box is {np.round(box, 1)}")


def judge_polygons(seen: Seen, polygons: Mapping[str, Any], classes: Sequence[str]) -> None:
    points, offsets = np.asarray(polygons["points"]), np.asarray(polygons["offsets"])
    kept = np.asarray(polygons["kept"]).tolist()
    things = [(thing.label, thing.number) for thing in seen.scene.things]
    if "labels" in polygons:
        told = [classes[label] for label in np.asarray(polygons["labels"]).tolist()]
        true = [CLASSES[things[number][0]] for number in kept]
        check(told == true, "classes of polygons are", told, "not", true)
    for at, start, end in zip(kept, offsets[:-1], offsets[1:], strict=True):
        patch = seen.patches.get(things[at])
        drawn = filled(points[start:end], seen.image.shape)
        if patch is None:
            sides = min(drawn.any(axis=0).sum(), drawn.any(axis=1).sum())
            check(sides <= _LEAST + seen.slack, f"polygon {at} is not seen")
            continue
        by = seen.slack
        off = (drawn & ~_grown(patch.pixels, by)).sum() + (patch.pixels & ~_grown(drawn, by)).sum()
        check(off <= 2, f"polygon {at} is {off} pixels off")
    missing = set(seen.patches) - {things[at] for at in kept}
    check(not missing, "no polygons of", missing)


def judge_points(seen: Seen, points: Mapping[str, Any], classes: Sequence[str]) -> None:
    found = np.asarray(points["keypoints"])
    things = seen.scene.things
    check(len(found) == len(things), f"points of {len(found)} objects, not {len(things)}")
    if "labels" in points:
        told = [classes[label] for label in np.asarray(points["labels"]).tolist()]
        check(told == [CLASSES[t.label] for t in things], "classes of points are", told)
    for at, (thing, rows) in enumerate(zip(things, found, strict=True)):
        patch = seen.patches.get((thing.label, thing.number))
        is_visible = rows[:, 2] > 0
        for x, y, _ in rows[is_visible] if patch else ():
            column, row = min(int(x), seen.image.shape[1] - 1), min(int(y), seen.image.shape[0] - 1)
            check(_grown(patch.pixels, seen.slack)[row, column], f"object {at} is not at {x}, {y}")
        if patch and is_visible.all() and not patch.is_cut:
            middle = (rows[1, :2] + rows[2, :2]) / 2  # of opposite quarters
            seen_at = np.reshape(patch.box, (2, 2)).mean(axis=0)
            far = abs(middle - seen_at).max()
            check(far <= seen.slack, f"points of object {at} are around {middle}, not {seen_at}")


def judge_mask(seen: Seen, mask: Any, fill: int, background: int = 0) -> None:
    """Judge classes from 1 (height, width); `background` is elsewhere, `fill` in padding."""
    mask = np.asarray(mask)
    check(mask.shape == seen.image.shape[:2], f"a mask of {mask.shape}")
    away = ~_grown(seen.bright, seen.slack + 1)
    for (label, _), patch in seen.patches.items():
        inner = ~_grown(~patch.pixels, seen.slack)
        wrong = np.unique(mask[inner & (mask != label + 1)])
        check(not wrong.size, f"the mask of class {label} has {wrong}")
    wrong = set(np.unique(mask[away]).tolist()) - {background, fill}
    check(not wrong, "the mask of the background has", wrong)


def judge_picture(seen: Seen, picture: NDArray[np.uint8]) -> None:
    """Judge another picture of the same scene, cropped and turned alike."""
    other = Seen(picture, seen.scenes, seen.is_cut)
    check(other.scene.number == seen.scene.number, "the other picture is of another sample")
    check(other.patches.keys() == seen.patches.keys(), "the other picture shows other objects")
    for place, patch in seen.patches.items():
        far = np.abs(np.subtract(patch.box, other.patches[place].box)).max()
        check(far <= seen.slack, f"object {place[1]} lies elsewhere in the other picture")


def judge_geometry(seen: Seen, matrix: Any) -> None:
    """Judge the matrix from the upright source to the picture."""
    matrix = np.asarray(matrix)
    edge = np.array(seen.image.shape[1::-1])
    for at, thing in enumerate(seen.scene.things):
        points = seen.scene.upright(thing.outline)
        points = (points @ matrix[:, :2].T + matrix[:, 2]).clip(0, edge)
        low, high = points.min(axis=0), points.max(axis=0)
        patch = seen.patches.get((thing.label, thing.number))
        if patch:
            _judge_box([*low, *high], patch, seen.slack, at, is_whole=not at)


def judge_basics(seen: Seen, classes: Sequence[str], *, is_named: bool, has_label: bool) -> None:
    """Judge what every sample has, as far as it was delivered."""
    scene, fields = seen.scene, seen.fields
    if "label" in fields:
        label = int(fields["label"])
        told = classes[label] if label >= 0 else None
        true = CLASSES[scene.label] if has_label else None
        check(told == true, f"sample {scene.number} is {told}, not {true}")
    for name in ("name", "key"):
        if name in fields and is_named:
            stem = PurePath(str(fields[name])).name
            check(scene.stem in stem or "zz" in stem, f"sample {scene.number} is named {stem}")


def rows_of(batch: Sequence[Any], names: Sequence[str], views: int) -> Iterator[dict[str, Any]]:
    """Yield each sample of a batch, once for each view, as a dict by the names of its fields."""
    follows = [
        views > 1 and isinstance(column, (list, tuple)) and name in OF_VIEWS
        for name, column in zip(names, batch, strict=True)
    ]
    first = batch[0][0] if follows[0] else batch[0]
    for row in range(len(first)):
        for view in range(views):
            yield {
                name: column[view][row] if follow else column[row]
                for name, column, follow in zip(names, batch, follows, strict=True)
            }


OF_VIEWS = {"image", "boxes", "polygons", "points", "mask", "bands", "right", "geometry"}
