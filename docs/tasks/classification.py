#!/usr/bin/env python3
"""Train a classifier on a dataset with the splits train and val."""

import argparse

import torch
from torch import nn

import reader


def network(classes: int) -> nn.Module:
    """Return a network, such as torchvision.models.resnet50(num_classes=classes)."""
    return nn.Sequential(
        nn.Conv2d(3, 32, 7, stride=4),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, classes),
    )


def main() -> None:
    """Train, and measure the accuracy after each epoch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64)
    arguments = parser.parse_args()

    train = reader.Loader(
        arguments.shards,
        split="train",
        batch_size=arguments.batch_size,
        shuffle=True,
        transforms=[reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()],
    )
    val = reader.Loader(
        arguments.shards,
        split="val",
        batch_size=arguments.batch_size,
        transforms=[reader.Resize(256, antialias=True), reader.CenterCrop(224)],
    )
    unlabelled = sum(int((loader.dataset.labels < 0).sum()) for loader in (train, val))
    if unlabelled:
        raise SystemExit(
            f"{unlabelled} samples of {arguments.shards} have no label: `packer pack` takes labels "
            "from class folders or a table."
        )
    norm = {"mean": reader.IMAGENET_MEAN, "std": reader.IMAGENET_STD}
    train_batches = reader.CUDAPrefetcher(train, **norm)
    val_batches = reader.CUDAPrefetcher(val, **norm)

    model = network(len(train.dataset.classes)).to(train_batches.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(arguments.epochs):
        model.train()
        for images, labels in train_batches:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        model.eval()
        right = 0
        with torch.no_grad():
            for images, labels in val_batches:
                right += int((model(images).argmax(1) == labels).sum())
        accuracy = right / len(val.dataset)
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy:.1%}")
    print(train.statistics().bottleneck)


if __name__ == "__main__":
    try:
        main()
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
