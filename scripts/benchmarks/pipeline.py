"""What the peers share: the list of images, and crop, resize and flip of one of them."""

import io
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import simplejpeg
from PIL import Image

SPLITS = {"train", "val"}
cv2.setNumThreads(1)  # in each process that loads images, and in its workers


def random_box(height: int, width: int) -> tuple[int, int, int, int]:
    """(top, left, height, width) by the rules of torchvision's RandomResizedCrop."""
    for _ in range(10):
        area = height * width * random.uniform(0.08, 1)
        aspect = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, height - h), random.randint(0, width - w), h, w
    return 0, 0, height, width


def decoded(data: bytes) -> np.ndarray:
    """The fast way: simplejpeg (its fast settings), or OpenCV for what is not a JPEG."""
    if data.startswith(b"\xff\xd8"):
        return simplejpeg.decode_jpeg(data, "RGB", fastdct=True, fastupsample=True)
    return cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB)


def with_cv2(data: bytes, crop: str) -> np.ndarray:
    """`decoded`, then OpenCV's bilinear resize."""
    image = decoded(data)
    height, width = image.shape[:2]
    if crop == "random":
        return _random(image, random_box(height, width))
    image = cv2.resize(image, _enlarged(width, height))
    top, left = (image.shape[0] - 224) // 2, (image.shape[1] - 224) // 2
    return np.ascontiguousarray(image[top : top + 224, left : left + 224])


def with_cv2_reduced(data: bytes, crop: str) -> np.ndarray:
    """The same of a photograph that is decoded at the smallest eighths that the crop allows."""
    if crop != "random" or not data.startswith(b"\xff\xd8"):
        return with_cv2(data, crop)
    height, width, *_ = simplejpeg.decode_jpeg_header(data)
    box = random_box(height, width)
    scale = min(1, max(224 / box[2], 224 / box[3]))
    least = {"min_height": math.ceil(height * scale), "min_width": math.ceil(width * scale)}
    image = simplejpeg.decode_jpeg(data, "RGB", fastdct=True, fastupsample=True, **least)
    return _random(image, [round(image.shape[0] / height * length) for length in box])


def _random(image: np.ndarray, box: Sequence[int]) -> np.ndarray:
    top, left, h, w = box
    image = cv2.resize(image[top : top + h, left : left + w], (224, 224))
    return cv2.flip(image, 1) if random.random() < 0.5 else image


def _enlarged(width: int, height: int) -> tuple[int, int]:
    scale = 256 / min(height, width)
    return max(256, int(width * scale)), max(256, int(height * scale))


def with_pillow(data: bytes, crop: str) -> np.ndarray:
    """As torchvision does it: Pillow's decoder and its antialiased resize."""
    image = Image.open(io.BytesIO(data)).convert("RGB")
    if crop == "random":
        top, left, h, w = random_box(image.height, image.width)
        image = image.crop((left, top, left + w, top + h)).resize((224, 224), Image.BILINEAR)
        return np.array(image if random.random() < 0.5 else image.transpose(Image.FLIP_LEFT_RIGHT))
    image = image.resize(_enlarged(*image.size))
    left, top = (image.width - 224) // 2, (image.height - 224) // 2
    return np.array(image.crop((left, top, left + 224, top + 224)))


def labelled(images: Path) -> list[tuple[str, int]]:
    """(path, label) of each image of class folders, or of `SPLITS` of them, in packer's order."""
    folders = {path.name for path in images.iterdir() if path.is_dir()}
    splits = [images / name for name in sorted(folders)] if folders <= SPLITS else [images]
    names = {path.name for split in splits for path in split.iterdir() if path.is_dir()}
    return [
        (str(path), label)
        for split in splits
        for label, name in enumerate(sorted(names))
        for path in sorted((split / name).rglob("*"))
        if path.is_file()
    ]


def read(path: str) -> bytes:
    return Path(path).read_bytes()


def content(item: tuple[str, int]) -> dict[str, Any]:
    return {"jpg": read(item[0]), "label": item[1]}


def contents(images: Path) -> Iterator[dict[str, Any]]:
    return map(content, labelled(images))
