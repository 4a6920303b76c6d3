"""Turn a delivered batch into pictures with their annotations."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.errors import ArgumentError
from reader.format.members import captions_of
from reader.geometry import CORNERS_OF
from reader.look.pixels import array_of, images_of, shown
from reader.look.sheet import Sheet, Tile

_MOST = 32  # images on a sheet
_KEYS = ("label", "labels", "target", "targets", "y")


def show(
    batch: Any,
    *,
    fields: Sequence[str] | None = None,
    classes: Sequence[str] = (),
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    boxes: str = "xyxy",
    most: int = _MOST,
) -> Sheet:
    """Return a contact sheet of a batch that the training loop got.

    Images are shown after all transforms, with normalisation undone, with boxes, key points,
    polygons and masks drawn over them, and labels, keys and captions below. A notebook shows the
    sheet; ``.save("batch.png")`` writes it.

    Args:
        batch: batch of a Loader, a CUDAPrefetcher or any DataLoader: a tuple, dict or dataclass of
            tensors on any device, or only the images. Several views are shown one after the other.
        fields: names of a tuple's entries; None to derive them from types and shapes.
        classes: class names in label order.
        mean, std: the normalisation of the images, for each channel or one for all; None: 0 and 1.
            The sheet states whether values are then outside 0 to 1.
        boxes: format of the boxes: "xyxy", "xywh" or "cxcywh".
        most: number of images to show.

    Raises:
        ArgumentError: the batch has no images, or `boxes` is not a format.

    Example:
        >>> with reader.Loader("shards", batch_size=4, transforms=[reader.Resize(64)]) as loader:
        ...     sheet = reader.show(next(iter(loader)), classes=loader.dataset.classes)
        >>> sheet
        <reader.Sheet of 4 images, ... pixels>
    """
    if boxes not in CORNERS_OF:
        raise ArgumentError(f"boxes is one of {', '.join(CORNERS_OF)}, not {boxes!r}.")
    named = list(_named(batch, fields))
    views = next((views for views in map(_views, (value for _, value in named)) if views), None)
    if views is None:
        raise ArgumentError(
            "The batch has no images: tensors (B, 3, H, W) or (B, 1, H, W), or a list of "
            "(3, H, W). Pass a batch of the loop to reader.show."
        )
    count = len(views[0])
    rows = [
        [part for name, value in named for part in _annotations(name, value, count, row, classes)]
        for row in range(count)
    ]
    tiles, kind = [], ""
    for number, images in enumerate(views):
        pixels, kind = shown(images[:most], mean, std)
        for row, each in enumerate(pixels):
            of_view = f"view {number + 1}" if len(views) > 1 else ""
            tiles.append(_tile(each, rows[row], of_view, boxes, classes, number))
    sizes = {image.shape[:2] for images in views for image in images}
    size = "x".join(map(str, next(iter(sizes)))) if len(sizes) == 1 else f"{len(sizes)} sizes"
    head = f"{min(count, most)} of {count} images, {size}, {kind}"
    return Sheet(tiles, head)


show.__module__ = "reader"


def _named(batch: Any, fields: Sequence[str] | None) -> Iterator[tuple[str, Any]]:
    if isinstance(batch, Mapping):
        for name, value in batch.items():
            inner = isinstance(value, Mapping)
            yield from _named(value, None) if inner else [(str(name), value)]
    elif dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        for one in dataclasses.fields(batch):
            yield one.name, getattr(batch, one.name)
    elif isinstance(batch, (tuple, list)) and images_of(batch) is None:
        names = fields or getattr(batch, "_fields", None) or [""] * len(batch)
        if len(names) != len(batch):
            raise ArgumentError(
                f"fields has {len(names)} names, but the batch has {len(batch)} entries. Give one "
                "name for each."
            )
        for name, value in zip(names, batch, strict=True):
            yield from _named(value, None) if isinstance(value, Mapping) else [(name, value)]
    else:
        yield "image", batch


def _views(value: Any) -> list[list[NDArray[Any]]] | None:
    images = images_of(value)
    if images is not None:
        return [images]
    if isinstance(value, (list, tuple)) and value:
        views = [images_of(view) for view in value]
        if all(view is not None for view in views):
            return [view for view in views if view is not None]
    return None


@dataclasses.dataclass(frozen=True)
class _Annotation:
    line: str = ""
    boxes: Any = None
    labels: Any = None
    mask: Any = None
    points: Any = None
    polygons: Any = None


def _annotations(
    name: str, value: Any, count: int, row: int, classes: Sequence[str]
) -> Iterator[_Annotation]:
    if _views(value) is not None or not hasattr(value, "__len__"):
        return
    if isinstance(value, (str, bytes)) or len(value) != count:
        if isinstance(value, (list, tuple)) and value and len(value[0]) == count:
            for number, view in enumerate(value):  # a list of views
                for part in _annotations(name, view, count, row, classes):
                    yield dataclasses.replace(part, line=part.line) if not number else part
        return
    one = value[row]
    array = array_of(one)
    if isinstance(one, str):
        yield _Annotation(line=one)
    elif isinstance(one, Mapping) and "boxes" in one:
        yield _Annotation(boxes=array_of(one["boxes"]), labels=array_of(one.get("labels")))
    elif isinstance(one, Mapping) and "keypoints" in one:
        yield _Annotation(points=array_of(one["keypoints"]))
    elif isinstance(one, Mapping) and {"points", "offsets", "kept"} <= one.keys():
        corners, bounds, owners = (np.asarray(one[key]) for key in ("points", "offsets", "kept"))
        yield _Annotation(polygons=np.split(corners, bounds[1:-1]), labels=owners)
    elif isinstance(one, Mapping):
        yield from (_Annotation(line=caption) for caption in captions_of(one)[:1])
    elif array is None:
        if isinstance(one, (int, np.integer)):
            yield _Annotation(line=_label(name, int(one), classes))
    elif array.ndim == 0 and array.dtype.kind in "iu":
        yield _Annotation(line=_label(name, int(array), classes))
    elif array.ndim == 0 and array.dtype.kind == "b":
        if not array:
            yield _Annotation(line=f"{name or 'valid'}: False")
    elif array.ndim == 2 and array.shape[-1] == 4 and (array.shape[0] < 4 or "box" in name):
        yield _Annotation(boxes=array)
    elif array.ndim == 2 and array.dtype.kind in "iub":
        yield _Annotation(mask=array)
    elif array.ndim == 1 and array.dtype.kind == "f" and len(array) == len(classes):
        yield _Annotation(line=" ".join(_mixed(array, classes)))


def _label(name: str, number: int, classes: Sequence[str]) -> str:
    if name and name not in _KEYS:
        return f"{name}: {number}"
    return f"{number} {classes[number]}" if 0 <= number < len(classes) else str(number)


def _mixed(weights: NDArray[Any], classes: Sequence[str]) -> Iterator[str]:
    for number in np.argsort(-weights)[:2].tolist():
        if weights[number] > 0:
            yield f"{weights[number]:.2f} {classes[number]}"


def _tile(
    pixels: NDArray[np.uint8],
    parts: Sequence[_Annotation],
    view: str,
    form: str,
    classes: Sequence[str],
    number: int,
) -> Tile:
    lines = [part.line for part in parts if part.line] + [view] * bool(view)

    def of_view(field: str) -> list[_Annotation]:
        found = [part for part in parts if getattr(part, field) is not None]
        return found[number : number + 1] or found[:1]

    boxes = []
    for part in of_view("boxes"):
        corners = np.asarray(part.boxes, np.float64).reshape(-1, 4) @ CORNERS_OF[form]
        for at, (left, top, right, bottom) in enumerate(corners.tolist()):
            label = int(part.labels[at]) if part.labels is not None else at
            known = part.labels is not None and 0 <= label < len(classes)
            name = classes[label] if known else "" if part.labels is None else str(label)
            boxes.append(((left, top, right, bottom), label, name))
    objects = [each for part in of_view("points") for each in part.points]
    points = [(x, y, at) for one in objects for at, (x, y, seen) in enumerate(one.tolist()) if seen]
    polygons = [
        (corners.ravel().tolist(), int(owner))
        for part in of_view("polygons")
        for corners, owner in zip(part.polygons, part.labels, strict=False)
    ]
    mask = next((part.mask for part in of_view("mask")), None)
    return Tile(pixels, tuple(lines), tuple(boxes), mask, tuple(points), tuple(polygons))
