#!/usr/bin/env python3
"""Train on images with several labels each, and write predictions for the test images."""

import argparse
import csv
import json

import numpy as np
import torch
from torch import nn

import reader

SIZE = 128


def network(classes: int) -> nn.Module:
    """Return a network, such as torchvision.models.resnet50(num_classes=classes)."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 7, stride=4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, classes),
    )


def main() -> None:
    """Train, measure after each epoch, and write a table of the test images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--output", default="submission.csv")
    arguments = parser.parse_args()

    classes = reader.Dataset(arguments.shards, split="train").classes

    def targets(data: bytes) -> np.ndarray:
        """Return a 1 for each label of an image, float32 (classes,)."""
        found = np.zeros(len(classes), np.float32)
        found[json.loads(data)["labels"]] = 1
        return found

    labels = reader.Member("json", decode=targets)
    options = {"batch_size": arguments.batch_size}
    crop = [reader.RandomResizedCrop(SIZE, antialias=True), reader.RandomHorizontalFlip()]
    whole = [reader.Resize((SIZE, SIZE), antialias=True)]
    splits = {
        "train": {"shuffle": True, "transforms": crop, "fields": ("image", labels)},
        "val": {"drop_last": False, "transforms": whole, "fields": ("image", labels)},
        "test": {"drop_last": False, "transforms": whole, "fields": ("image", "name")},
    }
    norm = {"mean": reader.IMAGENET_MEAN, "std": reader.IMAGENET_STD}
    train, val, test = (
        reader.CUDAPrefetcher(
            reader.Loader(arguments.shards, split=split, **options, **chosen), **norm
        )
        for split, chosen in splits.items()
    )

    model = network(len(classes)).to(train.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(arguments.epochs):
        for images, wanted in train:  # float32 (B, classes)
            loss = nn.functional.binary_cross_entropy_with_logits(model(images), wanted)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = total = 0
        with torch.no_grad():
            for images, wanted in val:
                right += int(((model(images) > 0) == (wanted > 0)).sum())
                total += wanted.numel()
        print(f"epoch {epoch}: loss {loss.item():.3f}, labels right {right / max(total, 1):.1%}")

    with open(arguments.output, "w", newline="") as file, torch.no_grad():
        rows = csv.writer(file)
        rows.writerow(["image", "labels"])
        for images, names in test:
            for name, scores in zip(names, model(images).tolist(), strict=True):
                found = [label for label, score in zip(classes, scores, strict=True) if score > 0]
                rows.writerow([name.rpartition("/")[2], " ".join(found)])


if __name__ == "__main__":
    try:
        main()
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
