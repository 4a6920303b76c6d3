#!/usr/bin/env python3
"""Train a segmentation network on a dataset whose samples have a mask.png."""

import argparse

import torch
from torch import nn

import reader

IGNORED = 255  # the class outside the photograph


def main() -> None:
    """Train, and measure the share of pixels that are right after each epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("--classes", type=int, default=21)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    arguments = parser.parse_args()

    fields = ("image", reader.Mask("mask.png", fill=IGNORED))
    train = reader.Loader(
        arguments.shards,
        split="train",
        batch_size=arguments.batch_size,
        shuffle=True,
        fields=fields,
        transforms=[
            reader.RandomCrop(256, pad_if_needed=True),
            reader.RandomHorizontalFlip(),
        ],
    )
    val = reader.Loader(
        arguments.shards,
        split="val",
        batch_size=arguments.batch_size,
        fields=fields,
        transforms=[reader.Letterbox(256)],
    )
    norm = {"mean": reader.IMAGENET_MEAN, "std": reader.IMAGENET_STD}
    train_batches = reader.CUDAPrefetcher(train, **norm)
    val_batches = reader.CUDAPrefetcher(val, **norm)

    # Any network from images (B, 3, H, W) to scores (B, classes, H, W) will do.
    model = nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), nn.ReLU(), nn.Conv2d(32, arguments.classes, 1)
    ).to(train_batches.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(arguments.epochs):
        model.train()
        for (
            images,
            masks,
        ) in train_batches:  # masks: uint8 (B, H, W), same crops and flips
            loss = nn.functional.cross_entropy(model(images), masks.long(), ignore_index=IGNORED)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        model.eval()
        right = seen = 0
        with torch.no_grad():
            for images, masks in val_batches:
                counts = masks != IGNORED
                right += int(((model(images).argmax(1) == masks) & counts).sum())
                seen += int(counts.sum())
        print(f"epoch {epoch}: loss {loss.item():.3f}, {right / seen:.1%} of the pixels right")


if __name__ == "__main__":
    try:
        main()
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
