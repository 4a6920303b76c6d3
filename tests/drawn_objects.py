"""Images with an object in white, and annotations of it in the stored or the upright picture."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import reader

SIZE = 96, 72  # width and height, as stored
OBJECT = (24, 12, 60, 30)  # left, top, right and bottom there
Corners = tuple[float, float, float, float]


class Drawn(NamedTuple):
    """An image with an object, and an annotation of it."""

    image: bytes
    size: tuple[int, int]  # width and height that the annotation has
    box: Corners
    mask: bytes


def turned(pixels: np.ndarray, orientation: int) -> np.ndarray:
    """Return the pixels upright."""
    pixels = pixels.swapaxes(0, 1) if orientation >= 5 else pixels
    flips = {2: (1, -1), 3: (-1, -1), 4: (-1, 1), 6: (1, -1), 7: (-1, -1), 8: (-1, 1)}
    down, across = flips.get(orientation, (1, 1))
    return pixels[::down, ::across]


def seen(pixels: np.ndarray) -> Corners:
    rows, columns = np.nonzero(pixels if pixels.ndim == 2 else pixels.max(axis=-1) > 127)
    found = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
    return tuple(map(float, found))  # type: ignore[return-value]


def png(pixels: np.ndarray, orientation: int = 1) -> bytes:
    exif = Image.Exif()
    exif[0x112] = orientation
    options = {} if orientation == 1 else {"exif": exif}
    Image.fromarray(np.ascontiguousarray(pixels)).save(file := io.BytesIO(), "PNG", **options)
    return file.getvalue()


def drawn(orientation: int, *, is_upright: bool) -> Drawn:
    pixels = np.zeros((*SIZE[::-1], 3), np.uint8)
    left, top, right, bottom = OBJECT
    pixels[top:bottom, left:right] = 255
    shown = turned(pixels, orientation) if is_upright else pixels
    height, width = shown.shape[:2]
    mask = png(shown[..., 0] // 255)
    return Drawn(png(pixels, orientation), (width, height), seen(shown), mask)


def shape(box: Corners) -> dict[str, Any]:
    """Return an object's box, outline and key points, as COCO has them."""
    left, top, right, bottom = box
    return {
        "bbox": [left, top, right - left, bottom - top],
        "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
        "keypoints": [left, top, 2, right, bottom, 1],
    }


def delivered(dataset: Any, *fields: Any, **options: Any) -> dict[str, Any]:
    """Return the values of the fields by key."""
    names = ("key", "image", *fields)
    with reader.Loader(
        dataset, batch_size=1, drop_last=False, workers=0, fields=names, **options
    ) as loader:
        return {
            batch[0][0]: [np.asarray(batch[1][0]).transpose(1, 2, 0), *(b[0] for b in batch[2:])]
            for batch in loader
        }


def assert_near(found: Any, wanted: Corners, name: str) -> None:
    assert np.abs(np.asarray(found, float).ravel() - wanted).max() <= 1.01, (name, found, wanted)


def coco(images: Mapping[str, Drawn], **more: Any) -> bytes:
    """Return COCO's annotations of the images by name; `more` fields are of each object."""
    names = [{"id": number, "file_name": name} for number, name in enumerate(images)]
    sizes = [dict(zip(("width", "height"), one.size, strict=True)) for one in images.values()]
    things = [
        {"id": number, "image_id": number, "category_id": 1, "area": 1, **shape(one.box), **more}
        for number, one in enumerate(images.values())
    ]
    return json.dumps(
        {
            "images": [name | size for name, size in zip(names, sizes, strict=True)],
            "annotations": things,
            "categories": [{"id": 1, "name": "thing", "keypoints": ["a", "b"]}],
        }
    ).encode()


def write_coco(folder: Path, images: Mapping[str, Drawn], **more: Any) -> Path:
    """Write the images and their annotations."""
    folder.mkdir(parents=True)
    for name, one in images.items():
        (folder / name).write_bytes(one.image)
    (folder / "_annotations.coco.json").write_bytes(coco(images, **more))
    return folder
