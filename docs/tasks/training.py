#!/usr/bin/env python3
"""Train a ResNet-18 on packed shards: mixed precision, channels_last, several GPUs, resumable.

    python docs/tasks/training.py SHARDS                     # with the splits train and val
    torchrun --nproc-per-node 8 docs/tasks/training.py SHARDS

With --checkpoint FILE, the same command continues where the last one was stopped, also in the
middle of an epoch. The networks are those of He et al. 2015 (arXiv:1512.03385), as torchvision
builds them.
"""

import argparse
import math
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

import reader


def arguments_of(command: list[str] | None) -> argparse.Namespace:
    """Return the command line, whose defaults suit the machine."""
    on_gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=256 if on_gpu else 32, help="a rank")
    parser.add_argument("--size", type=int, default=224 if on_gpu else 32, help="of a crop")
    parser.add_argument("--lr", type=float, default=0.1, help="at a batch of 256 over all ranks")
    parser.add_argument("--workers", type=int, help="default: the cores that this rank may use")
    parser.add_argument("--checkpoint", type=Path, help="written, and continued from if it exists")
    parser.add_argument("--save-every", type=int, default=500, metavar="STEPS")
    parser.add_argument("--stop-at", type=int, metavar="STEP", help="save and end there")
    return parser.parse_args(command)


def conv(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Sequential:
    """A convolution and its batch norm."""
    layer = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(layer, nn.BatchNorm2d(outputs))


class Residual(nn.Module):
    """Convolutions with a shortcut around them: two of 3x3, or 1x1, 3x3, 1x1 (a bottleneck)."""

    def __init__(self, inputs: int, width: int, stride: int, is_bottleneck: bool) -> None:
        super().__init__()
        outputs = 4 * width if is_bottleneck else width
        if is_bottleneck:
            self.body = nn.Sequential(
                conv(inputs, width, 1),
                nn.ReLU(inplace=True),
                conv(width, width, 3, stride),
                nn.ReLU(inplace=True),
                conv(width, outputs, 1),
            )
        else:
            self.body = nn.Sequential(
                conv(inputs, width, 3, stride), nn.ReLU(inplace=True), conv(width, width, 3)
            )
        is_same = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if is_same else conv(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to the same or half the size."""
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet(blocks: tuple[int, ...], is_bottleneck: bool, classes: int) -> nn.Sequential:
    """Four stages of `blocks` residual blocks, for images (B, 3, H, W)."""
    layers = [conv(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, padding=1)]
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        for number in range(count):
            stride = 2 if stage and not number else 1
            layers.append(Residual(channels, width, stride, is_bottleneck))
            channels = 4 * width if is_bottleneck else width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
    return nn.Sequential(*layers)


def resnet18(classes: int = 1000) -> nn.Sequential:
    """11.7 million parameters with 1,000 classes."""
    return resnet((2, 2, 2, 2), is_bottleneck=False, classes=classes)


def resnet50(classes: int = 1000) -> nn.Sequential:
    """25.6 million parameters with 1,000 classes."""
    return resnet((3, 4, 6, 3), is_bottleneck=True, classes=classes)


def learning_rate(step: int, steps: int, peak: float) -> float:
    """Return a rate that is linear over the first twentieth, then half a cosine down to 0."""
    warm_up = max(1, steps // 20)
    if step < warm_up:
        return peak * (step + 1) / warm_up
    return peak / 2 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


class Training:
    """A model on its way through the epochs."""

    def __init__(self, arguments: argparse.Namespace, shards: Path, rank: int, ranks: int) -> None:
        self.arguments = arguments
        self.rank = rank
        self.step = 0
        own = {"batch_size": arguments.batch_size, "workers": arguments.workers}
        self.loader = reader.Loader(
            shards,
            split="train",
            transforms=[reader.RandomResizedCrop(arguments.size), reader.RandomHorizontalFlip()],
            shuffle=True,
            drop_last=True,
            rank=rank,
            world_size=ranks,
            **own,
        )
        self.val_loader = reader.Loader(
            shards,
            split="val",
            transforms=[
                reader.Resize(arguments.size * 8 // 7, antialias=True),
                reader.CenterCrop(arguments.size),
            ],
            fields=("image", "label", "valid"),
            rank=rank,
            world_size=ranks,
            **own,
        )
        # Faster on tensor cores; a CPU is faster with the other.
        layout = torch.channels_last if torch.cuda.is_available() else torch.contiguous_format
        on_device = {
            "mean": reader.IMAGENET_MEAN,
            "std": reader.IMAGENET_STD,
            "memory_format": layout,
        }
        self.batches = reader.CUDAPrefetcher(self.loader, **on_device)
        self.val_batches = reader.CUDAPrefetcher(self.val_loader, **on_device)
        self.device = self.batches.device
        torch.manual_seed(0)
        network = resnet18(len(self.loader.dataset.classes))
        self.network = network.to(self.device, memory_format=layout)
        own_gpu = [self.device] if self.device.type == "cuda" else None
        self.model: nn.Module = self.network
        if ranks > 1:
            self.model = nn.parallel.DistributedDataParallel(self.network, device_ids=own_gpu)
        self.peak = arguments.lr * arguments.batch_size * ranks / 256
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), self.peak, momentum=0.9, weight_decay=5e-5, nesterov=True
        )
        self.steps = arguments.epochs * len(self.loader)
        if not len(self.loader):
            sys.exit(f"{shards} has too few samples for one batch of {arguments.batch_size}.")

    def autocast(self) -> Any:
        """Return a context of half precision on a GPU, where it is faster."""
        if self.device.type != "cuda":
            return nullcontext()
        return torch.autocast("cuda", torch.bfloat16)

    def epoch(self) -> tuple[int, float]:
        """Train to the end of the epoch, or to --stop-at; return the steps and the last loss."""
        self.model.train()
        began = self.step
        loss = torch.zeros(())
        for images, labels in self.batches:
            for group in self.optimizer.param_groups:
                group["lr"] = learning_rate(self.step, self.steps, self.peak)
            with self.autocast():
                loss = nn.functional.cross_entropy(self.model(images), labels, label_smoothing=0.1)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            self.step += 1
            if self.step % self.arguments.save_every == 0:
                self.save()
            if self.step == self.arguments.stop_at:
                break
        return self.step - began, loss.item()

    @torch.no_grad()
    def accuracy(self) -> float:
        """Return the share of the validation set that is classified correctly."""
        self.model.eval()
        right = torch.zeros(2, device=self.device)
        for images, labels, valid in self.val_batches:
            with self.autocast():
                hits = self.network(images).argmax(1) == labels
            right += torch.stack([(hits & valid).sum(), valid.sum()])
        if dist.is_initialized():
            dist.all_reduce(right)
        return float(right[0] / right[1])

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        path = self.arguments.checkpoint
        if path is None or self.rank:
            return
        state = {
            "step": self.step,
            "model": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "data": self.batches.state_dict(),  # the batches that were trained on, no others
        }
        unfinished = path.with_name(f"{path.name}.unfinished")
        torch.save(state, unfinished)
        os.replace(unfinished, path)

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        path = self.arguments.checkpoint
        if path is None or not path.exists():
            return
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.step = state["step"]
        self.network.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batches.load_state_dict(state["data"])
        self.say(f"continues after step {self.step} of {self.steps}")

    def say(self, text: str) -> None:
        """Print, once for all ranks."""
        if not self.rank:
            print(text, flush=True)

    def run(self, ranks: int) -> None:
        """Train, with a line for each epoch."""
        self.resume()
        end = min(self.steps, self.arguments.stop_at or self.steps)
        while self.step < end:
            began = time.perf_counter()
            steps, loss = self.epoch()
            rate = steps * self.arguments.batch_size * ranks / (time.perf_counter() - began)
            self.say(
                f"epoch {(self.step - 1) // len(self.loader)}: {rate:.0f} images/s, "
                f"loss {loss:.3f}, accuracy {self.accuracy():.1%}"
            )
        self.save()
        self.say(self.loader.statistics().bottleneck)
        self.loader.close()
        self.val_loader.close()


def main(command: list[str] | None = None) -> None:
    """Train; under torchrun, as one of several ranks."""
    arguments = arguments_of(command)
    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group()
    try:
        Training(arguments, arguments.shards, rank, ranks).run(ranks)
    except reader.ShardfeedError as error:
        sys.exit(str(error))
    if ranks > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
