#!/usr/bin/env python3
"""Train a one-stage detector on a dataset with the boxes of COCO, YOLO or VOC."""

import argparse

import torch
from torch import Tensor, nn

import reader

SIZE, STRIDE = 320, 32  # of the images, and of a cell of the detector's grid
BOXES = {
    "coco": reader.Boxes("json", out="cxcywh"),
    "voc": reader.Boxes("json?", out="cxcywh"),
    "yolo": reader.Boxes("txt?", out="cxcywh"),
}


def targets(objects: list[dict[str, Tensor]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the cells' targets: a class (B, S, S), 0 for none; a box (B, 4, S, S) in cells."""
    cells = SIZE // STRIDE
    classes = torch.zeros((len(objects), cells, cells), dtype=torch.int64, device=device)
    boxes = torch.zeros((len(objects), 4, cells, cells), device=device)
    for number, found in enumerate(objects):  # "boxes" float32 (N, 4), "labels" int64 (N,)
        x, y, width, height = found["boxes"].to(device).T / STRIDE
        rows, columns = y.long().clamp(max=cells - 1), x.long().clamp(max=cells - 1)
        classes[number, rows, columns] = found["labels"].to(device) + 1
        boxes[number, :, rows, columns] = torch.stack([x - columns, y - rows, width, height])
    return classes, boxes


def main() -> None:
    """Train, and print the losses of each epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument(
        "--boxes", choices=BOXES, default="coco", help="the dataset that the boxes are from"
    )
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    arguments = parser.parse_args()

    loader = reader.Loader(
        arguments.shards,
        split="train",
        batch_size=arguments.batch_size,
        shuffle=True,
        fields=("image", BOXES[arguments.boxes]),
        transforms=[reader.Letterbox(SIZE), reader.RandomHorizontalFlip()],
    )
    batches = reader.CUDAPrefetcher(loader, mean=reader.IMAGENET_MEAN, std=reader.IMAGENET_STD)

    # A backbone, and for each cell the scores of "nothing" and of each class, and a box.
    outputs = 1 + len(loader.dataset.classes) + 4
    model = nn.Sequential(
        nn.Conv2d(3, 32, 8, stride=8), nn.ReLU(), nn.Conv2d(32, outputs, 4, stride=4)
    ).to(batches.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(arguments.epochs):
        for images, objects in batches:
            classes, boxes = targets(objects, images.device)
            scores, found = model(images).split([outputs - 4, 4], dim=1)
            class_loss = nn.functional.cross_entropy(scores, classes)
            has_object = (classes > 0)[:, None]
            box_loss = ((found - boxes).abs() * has_object).sum() / has_object.sum().clamp(min=1)
            optimizer.zero_grad()
            (class_loss + box_loss).backward()
            optimizer.step()
        print(f"epoch {epoch}: classes {class_loss.item():.3f}, boxes {box_loss.item():.3f}")


if __name__ == "__main__":
    try:
        main()
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
