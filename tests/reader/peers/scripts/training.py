"""What the scripts of this folder share: their arguments, a model, and a record of their steps.

Each script is written the way of somebody else's, as far as it touches the loader, and is what the
patches of docs/tasks/patches apply to.
"""

import argparse
import json
import os
import time
from pathlib import Path

import torch

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def arguments():
    """Of the command line; `stop` and `resume` are for what is written down in mid-epoch."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data_path")
    parser.add_argument("output_dir")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--stop", type=int, help="steps after which the script ends")
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    args.rank = int(os.environ.get("RANK", 0))
    args.world_size = int(os.environ.get("WORLD_SIZE", 1))
    args.distributed = args.world_size > 1
    args.checkpoint = Path(args.output_dir) / f"checkpoint-{args.rank}.pt"
    return args


args = arguments()
_seen, _times = [], []


def network():
    """A model with a parameter or two; it is not for its own sake that it is trained."""
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 1000)
    )


def init_distributed_mode():
    if args.distributed:
        torch.distributed.init_process_group("gloo")


def step(epoch, image, target):
    """Write down what a step was given; whether the script is to stop here."""
    image, target = torch.as_tensor(image), torch.as_tensor(target)
    assert image.dtype == torch.float32, image.dtype
    assert image.shape[1:] == (3, args.size, args.size), image.shape
    assert -3 < float(image.min()) < float(image.max()) < 3, "not normalised"
    _seen.append((epoch, target.tolist()))
    _times.append(time.perf_counter())
    return len(_seen) == args.stop


def end():
    """Save the record."""
    name = f"seen-{args.rank}-{'rest' if args.resume else 'first'}.json"
    (Path(args.output_dir) / name).write_text(json.dumps(_seen))
    if len(_times) > 1 and args.rank == 0:
        images = sum(len(labels) for _, labels in _seen[1:])
        print(f"images/s: {images / (_times[-1] - _times[0]):.1f}")
    if torch.distributed.is_initialized():
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()
