#!/usr/bin/env python3
"""What augmentations beyond crop and flip cost: torchvision's v2 on batches, OpenCV's warp.

    scripts/bench_augment.py [--device cpu|cuda] [--rounds 9]

A batch of 64 images of 224 x 224 is augmented at once, which draws once for all of its images, and
image by image. On a CPU it is processor time of one thread. Printed are medians in ms an image;
compare them to the decoding of a photograph, about 1 ms of one core. Needs torchvision.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import cv2
import numpy as np
import torch
from torch import Tensor

BATCH, SIZE = 64, 224


def median_ms(call: Callable[[], object], rounds: int, device: str) -> float:
    """Milliseconds an image of the batch."""
    clock = time.thread_time if device == "cpu" else time.perf_counter
    took = []
    for _ in range(rounds + 1):
        began = clock()
        call()
        if device != "cpu":
            torch.cuda.synchronize()
        took.append((clock() - began) * 1e3 / BATCH)
    return statistics.median(took[1:])


def warp(image: np.ndarray) -> np.ndarray:
    """The image rotated by ten degrees."""
    matrix = cv2.getRotationMatrix2D((SIZE / 2, SIZE / 2), 10, 1)
    return cv2.warpAffine(image, matrix, (SIZE, SIZE), flags=cv2.INTER_LINEAR)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    try:
        from torchvision.transforms import v2
    except ImportError:
        raise SystemExit("torchvision is not installed.") from None
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    torch.manual_seed(0)
    content = torch.randint(256, (BATCH, 3, SIZE, SIZE), dtype=torch.uint8)
    whole = content.to(given.device).contiguous(memory_format=torch.channels_last)
    floats = whole.float() / 255
    labels = torch.arange(BATCH, device=given.device) % 10

    def image_by_image(transform: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
        return torch.stack([transform(image) for image in images])

    jitter = v2.ColorJitter(0.4, 0.4, 0.4, 0.1)
    single: dict[str, tuple[Callable[[Tensor], Tensor], Tensor]] = {
        "ColorJitter, uint8": (jitter, whole),
        "ColorJitter without hue, uint8": (v2.ColorJitter(0.4, 0.4, 0.4), whole),
        "ColorJitter, float32": (jitter, floats),
        "RandAugment, uint8": (v2.RandAugment(), whole),
        "TrivialAugmentWide, uint8": (v2.TrivialAugmentWide(), whole),
        "RandomErasing(p=1), float32": (v2.RandomErasing(p=1), floats),
        "RandomRotation(15), uint8": (v2.RandomRotation(15), whole),
        "RandomAffine(15, (.1, .1), (.8, 1.2))": (
            v2.RandomAffine(15, (0.1, 0.1), (0.8, 1.2)),
            whole,
        ),
    }
    print(f"{'ms an image, ' + given.device:44}{'batch at once':>14}{'one by one':>14}")
    for name, (transform, images) in single.items():
        at_once = median_ms(lambda: transform(images), given.rounds, given.device)  # noqa: B023
        apart = median_ms(
            lambda: image_by_image(transform, images),  # noqa: B023
            given.rounds,
            given.device,
        )
        print(f"{name:44}{at_once:14.3f}{apart:14.3f}")
    for name, mix in (
        ("MixUp, float32", v2.MixUp(num_classes=10)),
        ("CutMix, float32", v2.CutMix(num_classes=10)),
    ):
        at_once = median_ms(lambda: mix(floats, labels), given.rounds, given.device)  # noqa: B023
        print(f"{name:44}{at_once:14.3f}")
    arrays = content.permute(0, 2, 3, 1).contiguous().numpy()
    apart = median_ms(lambda: [warp(image) for image in arrays], given.rounds, "cpu")
    print(f"{'cv2.warpAffine in map_sample, uint8':44}{'':14}{apart:14.3f}")


if __name__ == "__main__":
    main()
