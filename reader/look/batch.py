"""Turn a delivered batch into pictures with their annotations."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reader.errors import ArgumentError
from reader.format.members import captions_of
from reader.geometry import CORNERS_OF
from reader.look.pixels import array_of, images_of, shown
from reader.look.sheet import Sheet, Tile


class Drawing(Protocol):
    """A field that draws itself; see `reader.fields.field`."""

    def draw(self, tile: Tile, value: Any, classes: Sequence[str], boxes: str) -> None: ...


_MOST = 32  # images on a sheet
_KEYS = ("label", "labels", "target", "targets", "y")


def show(
    batch: Any,
    *,
    fields: Sequence[str | Drawing] | None = None,
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
    named = [(name, value, _views(value)) for name, value in _named(batch, fields)]
    views = next((views for _, _, views in named if views), None)
    if views is None:
        raise ArgumentError(
            "The batch has no images: tensors (B, 3, H, W) or (B, 1, H, W), or a list of "
            "(3, H, W). Pass a batch of the loop to reader.show."
        )
    count = len(views[0])
    others = [
        (values, partial(draw_value, name=name) if isinstance(name, str) else name.draw)
        for name, value, images in named
        if images is not views and (values := _by_view(value, count))
    ]
    tiles, kind = [], ""
    for number, images in enumerate(views):
        pixels, kind = shown(images[:most], mean, std)
        for row, each in enumerate(pixels):
            tile = Tile(each)
            for values, draw in others:
                draw(tile, values[min(number, len(values) - 1)][row], classes, boxes)
            if len(views) > 1:
                tile.lines.append(f"view {number + 1}")
            tiles.append(tile)
    sizes = {image.shape[:2] for images in views for image in images}
    size = "x".join(map(str, next(iter(sizes)))) if len(sizes) == 1 else f"{len(sizes)} sizes"
    head = f"{min(count, most)} of {count} images, {size}, {kind}"
    return Sheet(tiles, head)


show.__module__ = "reader"


def _named(
    batch: Any, fields: Sequence[str | Drawing] | None
) -> Iterator[tuple[str | Drawing, Any]]:
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


def _by_view(value: Any, count: int) -> list[Any]:
    """Return the `count` values of a field, in each view that it has; nothing if it has others."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
        return []
    if len(value) == count:
        return [value]
    is_list = isinstance(value, (list, tuple))
    return [view for view in value if len(view) == count] if is_list else []


def draw_value(
    tile: Tile, value: Any, classes: Sequence[str], boxes: str = "xyxy", name: str = ""
) -> None:
    """Draw a value of a sample over its image, or write it below, by its type and shape."""
    array = array_of(value)
    if isinstance(value, Mapping):
        _draw_objects(tile, value, classes, boxes)
    elif isinstance(value, str):
        tile.lines += [value] * bool(value)
    elif isinstance(value, (int, np.integer)):
        tile.lines.append(_label(name, int(value), classes))
    elif array is None:
        return
    elif array.ndim == 0 and array.dtype.kind in "iu":
        tile.lines.append(_label(name, int(array), classes))
    elif array.ndim == 0 and array.dtype.kind == "b":
        tile.lines += [f"{name or 'valid'}: False"] * (not array)
    elif array.ndim == 2 and array.shape[-1] == 4 and (array.shape[0] < 4 or "box" in name):
        _draw_boxes(tile, array, None, classes, boxes)
    elif array.ndim == 2 and array.dtype.kind in "iub":
        tile.mask = array if tile.mask is None else tile.mask
    elif array.ndim == 1 and array.dtype.kind == "f" and len(array) == len(classes):
        tile.lines.append(" ".join(_mixed(array, classes)))


def _draw_objects(tile: Tile, value: Mapping[str, Any], classes: Sequence[str], boxes: str) -> None:
    if "boxes" in value:
        if (rows := array_of(value["boxes"])) is not None:
            _draw_boxes(tile, rows, array_of(value.get("labels")), classes, boxes)
    elif "keypoints" in value:
        if (objects := array_of(value["keypoints"])) is not None:
            for one in objects.tolist():
                tile.points += [(x, y, at) for at, (x, y, seen) in enumerate(one) if seen]
    elif {"points", "offsets", "kept"} <= value.keys():
        corners, bounds, owners = (np.asarray(value[key]) for key in ("points", "offsets", "kept"))
        rings = np.split(corners, bounds[1:-1])
        pairs = zip(rings, owners.tolist(), strict=False)
        tile.polygons += [(ring.ravel().tolist(), owner) for ring, owner in pairs]
    else:
        tile.lines += captions_of(value)[:1]


def _draw_boxes(tile: Tile, rows: Any, labels: Any, classes: Sequence[str], form: str) -> None:
    corners = np.asarray(rows, np.float64).reshape(-1, 4) @ CORNERS_OF[form]
    for at, (left, top, right, bottom) in enumerate(corners.tolist()):
        label = at if labels is None else int(labels[at])
        known = labels is not None and 0 <= label < len(classes)
        name = classes[label] if known else "" if labels is None else str(label)
        tile.boxes.append(((left, top, right, bottom), label, name))


def _label(name: str, number: int, classes: Sequence[str]) -> str:
    if name and name not in _KEYS:
        return f"{name}: {number}"
    return f"{number} {classes[number]}" if 0 <= number < len(classes) else str(number)


def _mixed(weights: NDArray[Any], classes: Sequence[str]) -> Iterator[str]:
    for number in np.argsort(-weights)[:2].tolist():
        if weights[number] > 0:
            yield f"{weights[number]:.2f} {classes[number]}"
