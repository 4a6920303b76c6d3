#!/usr/bin/env python3
"""Train a classifier on tiny images, packed with --raw, in the style of CIFAR-10."""

import argparse
import time

import torch
from torch import nn

import reader


def main() -> None:
    """Train, and measure the accuracy after each epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("--val", default="val", help="the split that accuracy is measured on")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=512)
    arguments = parser.parse_args()

    size = arguments.batch_size
    augment = [reader.RandomCrop(32, padding=4), reader.RandomHorizontalFlip()]
    train = reader.Loader(
        arguments.shards, split="train", batch_size=size, shuffle=True, transforms=augment
    )
    val = reader.Loader(arguments.shards, split=arguments.val, batch_size=size)
    norm = {"mean": (0.491, 0.482, 0.447), "std": (0.247, 0.243, 0.262)}
    train_batches = reader.CUDAPrefetcher(train, **norm)
    val_batches = reader.CUDAPrefetcher(val, **norm)

    model = nn.Sequential(
        nn.Conv2d(3, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, len(train.dataset.classes)),
    ).to(train_batches.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(arguments.epochs):
        began = time.perf_counter()
        model.train()
        for images, labels in train_batches:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        rate = len(train.dataset) / (time.perf_counter() - began)

        model.eval()
        with torch.no_grad():
            right = sum(int((model(x).argmax(1) == y).sum()) for x, y in val_batches)
        print(f"epoch {epoch}: {rate:,.0f} images/s, accuracy {right / len(val.dataset):.1%}")


if __name__ == "__main__":
    try:
        main()
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
