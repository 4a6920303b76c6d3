"""Images that tests and scripts make for themselves."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def make_image(seed: int, height: int = 60, width: int = 80, mode: str = "RGB") -> Image.Image:
    """Return smooth shapes and some noise, as in photographs."""
    rng = np.random.default_rng(seed)
    rows = np.linspace(0, 1, height)[:, None, None]
    columns = np.linspace(0, 1, width)[None, :, None]
    frequency, phase = rng.uniform(2, 12, (2, 1, 1, 3)), rng.uniform(0, 6, (1, 1, 3))
    waves = np.sin(frequency[0] * rows + frequency[1] * columns + phase)
    noise = rng.normal(0, 6, (height, width, 3))
    pixels = (127 + 110 * waves + noise).clip(0, 255).astype(np.uint8)
    return Image.fromarray(pixels).convert(mode)


def encode(image: Image.Image, kind: str, **options: object) -> bytes:
    """Return the bytes of an image file."""
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def png(pixels: NDArray[Any], **options: object) -> bytes:
    """Return the bytes of a PNG of these pixels."""
    return encode(Image.fromarray(pixels), "PNG", **options)


def npy(values: Any, **options: Any) -> bytes:
    """Return the bytes of an array's file."""
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


def turned(orientation: int) -> Image.Exif:
    """Return the EXIF of an image that is to be shown in this orientation."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


def write_files(root: Path, files: Mapping[str, bytes | str | Image.Image]) -> Path:
    """Write files by their paths below a folder, pictures by what their names end in."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Image.Image):
            content.save(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def make_folder(root: Path, classes: int = 3, images: int = 8) -> Path:
    """Write class folders of JPEGs of different sizes."""
    for label in range(classes):
        folder = root / f"class{label}"
        folder.mkdir(parents=True)
        for number in range(images):
            seed = label * images + number
            image = make_image(seed, 50 + 7 * (seed % 5), 64 + 9 * (seed % 4))
            (folder / f"image{number:03d}.jpg").write_bytes(encode(image, "JPEG", quality=90))
    return root


def make_coco(root: Path, objects: Mapping[str, Sequence[Any]], *categories: Any) -> Path:
    """Write black JPEGs of 80 x 60 pixels, and an annotation file of the objects of each."""
    (root / "images").mkdir()
    images, annotations = [], []
    for number, (name, found) in enumerate(objects.items()):
        (root / "images" / name).write_bytes(encode(Image.new("RGB", (80, 60)), "JPEG"))
        images.append({"id": number, "file_name": name, "height": 60, "width": 80})
        for one in found:
            annotations.append({"id": len(annotations) + 1, "image_id": number, **one})
    content = {"images": images, "annotations": annotations, "categories": categories}
    (root / "instances.json").write_text(json.dumps(content))
    return root / "instances.json"
