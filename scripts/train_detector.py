#!/usr/bin/env python3
"""Trains one of torchvision's detectors for some steps, on a dataset of COCO's and of YOLO's kind.

    scripts/train_detector.py [--kind coco|yolo] [--steps 30] [--draw FILE.png] [SHARDS]

SHARDS is packed from COCO's layout, or from YOLO's with its labels in `txt`. Without it the script
draws a set of shapes, writes it in that layout and packs it. Needs torchvision. The detector begins
with random weights, or with `--pretrained` with those that torchvision downloads.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import Tensor

import packer
import reader

SIZE = 192
SHAPES = ("ellipse", "rectangle", "triangle")
Found = tuple[int, tuple[float, float, float, float]]  # class and x, y, width, height in pixels


def draw(rng: np.random.Generator) -> tuple[Image.Image, list[Found]]:
    """An image of up to three shapes on noise, and where they are."""
    width, height = (int(side) for side in rng.integers(240, 480, 2))
    noise = rng.integers(0, 60, (height, width, 3), dtype=np.uint8)
    image, found = Image.fromarray(noise), []
    canvas = ImageDraw.Draw(image)
    for _ in range(rng.integers(0, 4)):
        label = int(rng.integers(len(SHAPES)))
        w, h = (int(side) for side in rng.integers(50, 130, 2))
        x, y = int(rng.integers(0, width - w)), int(rng.integers(0, height - h))
        color = tuple(rng.integers(120, 256, 3).tolist())
        corners = (x, y, x + w - 1, y + h - 1)
        if SHAPES[label] == "ellipse":
            canvas.ellipse(corners, fill=color)
        elif SHAPES[label] == "rectangle":
            canvas.rectangle(corners, fill=color)
        else:
            canvas.polygon([(x, y + h - 1), (x + w // 2, y), (x + w - 1, y + h - 1)], fill=color)
        found.append((label, (x, y, w, h)))
    return image, found


def make(folder: Path, kind: str, count: int) -> Path:
    """Draw `count` images, write them as COCO's or YOLO's tools do, and pack them."""
    rng = np.random.default_rng(0)
    images, annotations = folder / "images" / "train", folder / "labels" / "train"
    if kind == "coco":
        images, annotations = folder / "source" / "train2017", folder / "source" / "annotations"
    images.mkdir(parents=True)
    annotations.mkdir(parents=True)
    listed, boxes = [], []
    for number in range(count):
        image, found = draw(rng)
        image.save(images / f"{number:06d}.jpg", quality=90)
        size = dict(zip(("width", "height"), image.size, strict=True))
        listed.append({"id": number, "file_name": f"{number:06d}.jpg", **size})
        lines = []
        for label, (x, y, w, h) in found:
            owner = {"id": len(boxes), "image_id": number, "category_id": label + 1}
            boxes.append({**owner, "bbox": [x, y, w, h], "area": w * h, "iscrowd": 0})
            middle = (x + w / 2) / image.width, (y + h / 2) / image.height
            lines.append(" ".join(map(str, (label, *middle, w / image.width, h / image.height))))
        if kind == "yolo" and lines:  # an image without objects has no file
            (annotations / f"{number:06d}.txt").write_text("\n".join(lines))
    if kind == "coco":
        names = [{"id": number + 1, "name": name} for number, name in enumerate(SHAPES)]
        content = {"images": listed, "annotations": boxes, "categories": names}
        (annotations / "instances_train2017.json").write_text(json.dumps(content))
        packer.pack(folder / "source", folder / "shards", progress=False)
    else:
        labels = {"txt?": folder / "labels"}
        packer.pack(folder / "images", folder / "shards", pairs=labels, progress=False)
    return folder / "shards"


def load(shards: Path, kind: str, batch_size: int) -> reader.Loader:
    """Batches without end of images and of their objects."""
    field = reader.Boxes("json")
    if kind == "yolo":
        field = reader.Boxes("txt?", format="cxcywh", normalized=True)
    return reader.Loader(
        shards,
        split="train",
        batch_size=batch_size,
        shuffle=True,
        epochs=None,
        fields=("image", field),
        transforms=[reader.Letterbox(SIZE), reader.RandomHorizontalFlip()],
    )


def targets(objects: list[dict[str, Tensor]], kind: str) -> list[dict[str, Tensor]]:
    """The objects as torchvision's detectors want them: corners, and classes from 1."""
    from torchvision.ops import box_convert

    given = "cxcywh" if kind == "yolo" else "xywh"
    return [
        {"boxes": box_convert(one["boxes"], given, "xyxy"), "labels": one["labels"] + 1}
        for one in objects
    ]


def drawn(images: Tensor, wanted: list[dict[str, Tensor]], path: Path) -> None:
    """Write a picture of the images with the boxes that came with them."""
    from torchvision.utils import draw_bounding_boxes, make_grid

    def names(one: dict[str, Tensor]) -> list[str]:
        return [str(label.item()) for label in one["labels"]]

    shown = [
        draw_bounding_boxes(image, one["boxes"], names(one), colors="yellow", width=2)
        if len(one["boxes"])
        else image
        for image, one in zip(images.contiguous(), wanted, strict=True)
    ]
    grid = make_grid(shown, nrow=4).permute(1, 2, 0)
    Image.fromarray(grid.numpy()).save(path)


def train(loader: reader.Loader, kind: str, steps: int, classes: int, pretrained: bool) -> list:
    """Train for `steps` steps; the losses."""
    from torchvision.models import detection

    torch.manual_seed(0)
    weights = {"weights": None, "weights_backbone": None, "num_classes": classes + 1}
    if pretrained:
        weights = {"weights_backbone": "DEFAULT", "num_classes": classes + 1}
    model = detection.fasterrcnn_mobilenet_v3_large_320_fpn(**weights, min_size=SIZE)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-4)
    losses = []
    for step, (images, objects) in zip(range(steps), loader, strict=False):
        loss = sum(model(list(images.float() / 255), targets(objects, kind)).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % 5 == 0 or step == steps - 1:
            print(f"{kind} step {step}: loss {losses[-1]:.3f}", flush=True)
    return losses


def main(arguments: list[str]) -> None:
    """Make a set where none is given, draw what is delivered, train."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path, nargs="?")
    parser.add_argument("--kind", choices=("coco", "yolo"), default="coco")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--classes", type=int, help="of YOLO's labels, which do not name them")
    parser.add_argument("--draw", type=Path, help="write the first batch with its boxes here")
    parser.add_argument("--pretrained", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        shards = given.shards or make(Path(folder), given.kind, 64)
        with load(shards, given.kind, given.batch_size) as loader:
            if given.draw:
                images, objects = next(iter(loader))
                drawn(images, targets(objects, given.kind), given.draw)
            classes = given.classes or len(loader.dataset.classes) or len(SHAPES)
            losses = train(loader, given.kind, given.steps, classes, given.pretrained)
    edge = max(1, len(losses) // 6)
    first, last = statistics.mean(losses[:edge]), statistics.mean(losses[-edge:])
    print(f"{given.kind}: loss {first:.3f} in the first {edge} steps, {last:.3f} in the last")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
