"""Fields of a batch, each with how a sample of it is judged."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crossing.judge import (
    Seen,
    check,
    judge_boxes,
    judge_geometry,
    judge_mask,
    judge_picture,
    judge_points,
    judge_polygons,
)
from crossing.scenes import CLASSES
from crossing.world import World
from reader import Bands, Boxes, Mask, Member, Points, Polygons

BASICS = ("image", "label", "index", "valid", "name")
Judge = Callable[[World, Seen, Sequence[str]], None]


@dataclass(frozen=True)
class Field:
    """Fields beside the image, each by the name that the judge has for it.

    Attributes:
        make: returns them; None for the fields that a Loader has if none are named.
        needs: what the source must give.
        lacks: pattern of the error where the source has nothing of the kind.
    """

    make: Callable[[World], Mapping[str, Any]] | None
    judge: Judge = lambda world, seen, classes: None
    needs: str | None = None
    lacks: str = "no member|has no|no sample|no field|has nothing|decode= raised"

    def names(self, world: World) -> tuple[str, ...]:
        return ("image", "label") if self.make is None else (*BASICS, *self.make(world))

    def fields(self, world: World) -> tuple[Any, ...] | None:
        """Return what a Loader is given."""
        return None if self.make is None else (*BASICS, *self.make(world).values())


def _told(world: World, classes: Sequence[str]) -> Sequence[str]:
    """Return the names that the labels of objects number: the source's own, if it has its own."""
    return CLASSES if world.source.boxes else classes


def _boxes(least: float = 4.0, **given: Any) -> Field:
    def make(world: World) -> Mapping[str, Any]:
        ext = world.source.holds.get("boxes", "json")
        return {"boxes": Boxes(ext, **{**world.boxes, **given, "out": given.get("out", "xyxy")})}

    def judge(world: World, seen: Seen, classes: Sequence[str]) -> None:
        boxes, way = dict(seen["boxes"]), given.get("out")
        rows = np.asarray(boxes["boxes"], float)
        if way == "cxcywh":
            rows = np.hstack([rows[:, :2] - rows[:, 2:] / 2, rows[:, :2] + rows[:, 2:] / 2])
        elif way == "xywh":
            rows = np.hstack([rows[:, :2], rows[:, :2] + rows[:, 2:]])
        judge_boxes(seen, boxes | {"boxes": rows}, _told(world, classes), least * seen.slack / 1.5)

    return Field(make, judge, "boxes")


def _boxes_said(world: World) -> Mapping[str, Any]:
    """Say all that dataset.json records."""
    ext = world.source.holds.get("boxes", "json")
    known = world.open().box_encodings.get(ext)
    told = dict(world.boxes)
    if known is not None:
        told |= {"path": known.path, "format": known.format, "normalized": known.normalized}
        told["labels"] = known.labels
    upright = world.picture.is_upright or ext == "txt"
    return {"boxes": Boxes(ext, **{**told, "out": "xyxy", "upright": upright})}


def _boxes_decoded(world: World) -> Mapping[str, Any]:
    """Decode the member by a function of one's own, to paths of one's own."""
    ext = world.source.holds.get("boxes", "json")
    known, told = world.open().box_encodings.get(ext), world.boxes
    path = known.path if known else told.get("path", "boxes")
    format = known.format if known else told.get("format", "xyxy")

    def decode(data: bytes) -> Any:
        if ext == "txt":
            rows = [list(map(float, line.split())) for line in data.decode().splitlines()]
            return {"mine": [{"at": row[1:]} for row in rows]}
        found: Any = json.loads(data)
        for name in path.split("."):
            found = found[name]
        return {"mine": [{"at": row} for row in found]}

    more = {"normalized": True, "upright": True} if ext == "txt" else {}
    made = Boxes(ext, "mine.*.at", format, out="xyxy", decode=decode, **more)
    return {"boxes": made}


def _polygons(**given: Any) -> Field:
    def make(world: World) -> Mapping[str, Any]:
        return {
            "polygons": Polygons(
                world.source.holds.get("polygons", "json"), **{**world.source.polygons, **given}
            )
        }

    def judge(world: World, seen: Seen, classes: Sequence[str]) -> None:
        judge_polygons(seen, seen["polygons"], _told(world, classes))

    return Field(make, judge, "polygons")


def _points(**given: Any) -> Field:
    def make(world: World) -> Mapping[str, Any]:
        ext = world.source.holds.get("points", "json")
        return {"points": Points(ext, **{**world.source.points, **given})}

    def judge(world: World, seen: Seen, classes: Sequence[str]) -> None:
        judge_points(seen, seen["points"], _told(world, classes))

    return Field(make, judge, "points")


def _mask(fill: int, *, is_short: bool = False) -> Field:
    def judge(world: World, seen: Seen, classes: Sequence[str]) -> None:
        judge_mask(seen, seen["mask"], fill)

    made = "mask.png" if is_short else Mask("mask.png", fill=fill)
    return Field(lambda world: {"mask": made}, judge, "mask")


def _bands(**given: Any) -> Field:
    def judge(world: World, seen: Seen, classes: Sequence[str]) -> None:
        bands = np.asarray(seen["bands"]).astype(float)
        check(bands.shape == (2, *seen.image.shape[:2]), "bands of", bands.shape)
        first, second = bands
        fill, number = given.get("fill", 0), seen.scene.number + 1
        wrong = set(np.unique(second.round(3)).tolist()) - {number, fill}
        is_blurred = given.get("interpolation") == "bilinear"
        check(is_blurred or not wrong, "the second band has", wrong, "not", number)
        if not is_blurred:
            judge_mask(seen, first, fill)

    return Field(lambda world: {"bands": Bands("npy", **given)}, judge, "bands")


def _judge_right(world: World, seen: Seen, classes: Sequence[str]) -> None:
    judge_picture(seen, pixels_of(seen["right"]))


def pixels_of(image: Any) -> Any:
    """Return (H, W, C) of an image as a Loader delivers it."""
    return np.ascontiguousarray(np.moveaxis(np.asarray(image), 0, -1))


def _right_of(world: World) -> str:
    return f"right.{world.picture.ext}"


def _judge_text(world: World, seen: Seen, classes: Sequence[str]) -> None:
    check(seen["text"] == seen.scene.text, seen["text"], "is not", seen.scene.text)


def _judge_length(world: World, seen: Seen, classes: Sequence[str]) -> None:
    check(int(seen["length"]) == len(seen.scene.text), "a text of", seen["length"], "letters")


def _judge_json(world: World, seen: Seen, classes: Sequence[str]) -> None:
    check(isinstance(seen["json"], dict), seen["json"])
    number = seen["json"].get("number", seen.scene.number)
    if isinstance(number, list):  # one for each object
        number = (number or [seen["json"]["image"]["number"]])[0]
    check(int(number) == seen.scene.number, "json of", number, "not of", seen.scene.number)


def _judge_absent(world: World, seen: Seen, classes: Sequence[str]) -> None:
    check(seen["absent"] is None, "a member that there is not is", seen["absent"])


def _judge_size(world: World, seen: Seen, classes: Sequence[str]) -> None:
    size = tuple(np.asarray(seen["size"]).tolist())
    check(world.is_scaled or size == seen.sides, f"a source of {size}, not of {seen.sides}")
    check(int(seen["source"]) in (0, 1), "it is of source", seen["source"])
    check(seen.scene.stem in str(seen["key"]) or world.source.is_one_size, "it is", seen["key"])
    check(bool(seen["valid"]), "it is padding")


def _judge_geometry(world: World, seen: Seen, classes: Sequence[str]) -> None:
    judge_geometry(seen, seen["geometry"])


FIELDS: dict[str, Field] = {
    "default": Field(None),
    "built_in": Field(lambda world: {n: n for n in ("key", "size", "source")}, _judge_size),
    "geometry": Field(lambda world: {"geometry": "geometry"}, _judge_geometry),
    "boxes": _boxes(),
    "boxes_xywh": _boxes(out="xywh"),
    "boxes_cxcywh": _boxes(out="cxcywh", min_size=2),
    "boxes_visible": _boxes(1000.0, min_visible=0.5),
    "boxes_said": replace(_boxes(), make=_boxes_said),
    "boxes_decoded": replace(_boxes(), make=_boxes_decoded),
    "polygons": _polygons(),
    "polygons_whole": _polygons(clip=False, upright=None),
    "points": _points(),
    "points_named": _points(names=("left", "right", "below"), flip=()),
    "mask": _mask(0, is_short=True),
    "mask_filled": _mask(255),
    "bands": _bands(),
    "bands_smooth": _bands(interpolation="bilinear", fill=0),
    "right": Field(lambda world: {"right": _right_of(world)}, _judge_right, "right"),
    "text": Field(
        lambda world: {"text": world.source.holds.get("text", "txt")}, _judge_text, "text"
    ),
    "decoded": Field(
        lambda world: {"length": Member("txt", decode=len)}, _judge_length, "text_file"
    ),
    "json": Field(lambda world: {"json": "json"}, _judge_json, "json"),
    "absent": Field(lambda world: {"absent": "json.nothing?"}, _judge_absent, "json"),
}
