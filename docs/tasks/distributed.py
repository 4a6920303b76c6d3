#!/usr/bin/env python3
"""Train on several GPUs, or CPUs, under torchrun; run it again to continue a stopped run."""

import argparse
import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

import reader


def main() -> None:
    """Train, save after each epoch, and measure the accuracy over all ranks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shards")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=64, help="of each rank")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.pt"))
    arguments = parser.parse_args()

    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group()  # the loaders read rank and world size from it

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
        fields=("image", "label", "valid"),
        transforms=[reader.Resize(256, antialias=True), reader.CenterCrop(224)],
    )
    norm = {"mean": reader.IMAGENET_MEAN, "std": reader.IMAGENET_STD}
    train_batches = reader.CUDAPrefetcher(train, **norm)
    val_batches = reader.CUDAPrefetcher(val, **norm)
    device = train_batches.device

    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(3, 32, 7, stride=4),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(32, len(train.dataset.classes)),
    ).to(device)
    model = nn.parallel.DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    first = 0
    if arguments.checkpoint.exists():
        state = torch.load(arguments.checkpoint, map_location=device, weights_only=True)
        first = state["epoch"]
        network.load_state_dict(state["network"])
        optimizer.load_state_dict(state["optimizer"])
        train_batches.load_state_dict(state["data"])

    for epoch in range(first, arguments.epochs):
        model.train()
        for images, labels in train_batches:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        model.eval()
        right = torch.zeros(2, device=device)
        with torch.no_grad():
            for images, labels, valid in val_batches:
                hits = (network(images).argmax(1) == labels) & valid  # padding does not count
                right += torch.stack([hits.sum(), valid.sum()])
        dist.all_reduce(right)
        if dist.get_rank() == 0:
            accuracy, seen = float(right[0] / right[1]), int(right[1])
            print(f"epoch {epoch}: accuracy {accuracy:.1%} of {seen} images", flush=True)
            state = {
                "epoch": epoch + 1,
                "network": network.state_dict(),
                "optimizer": optimizer.state_dict(),
                "data": train_batches.state_dict(),  # the same on every rank
            }
            torch.save(state, arguments.checkpoint)
    dist.destroy_process_group()


if __name__ == "__main__":
    try:
        main()
    except reader.ShardfeedError as error:
        raise SystemExit(str(error)) from None
