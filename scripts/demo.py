#!/usr/bin/env python3
"""Reads packed samples as a training loop would, and prints what it measured: demo.py SHARDS."""

import sys
import time

import torch

import reader

EPOCHS = 3


def main() -> None:
    began = time.perf_counter()
    loader = reader.Loader(
        sys.argv[1],
        batch_size=64,
        shuffle=True,
        transforms=[reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()],
    )
    prefetcher = reader.CUDAPrefetcher(
        loader, mean=reader.IMAGENET_MEAN, std=reader.IMAGENET_STD, dtype=torch.float32
    )
    for epoch in range(EPOCHS):
        count = 0
        start = time.perf_counter()
        for images, _labels in prefetcher:
            if began:
                print(f"first batch after {time.perf_counter() - began:.2f} s")
                began = 0.0
            count += len(images)
        seconds = time.perf_counter() - start
        rate = count / seconds
        print(f"epoch {epoch}: {count} images on {prefetcher.device}, {rate:.0f} images/s")
    statistics = loader.statistics()
    print(f"{statistics.workers} workers; {statistics.bottleneck}")
    loader.close()


if __name__ == "__main__":
    main()
