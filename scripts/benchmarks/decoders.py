"""JPEG decoders on a GPU: images a second, and how far their pixels are from the workers'.

    scripts/bench.py decoders                 # every library that is installed
    scripts/bench.py decoders --device cpu    # only the workers' own decoder

Each decodes whole batches of photographs. "mean" and "most" are differences of values from 0 to 255
over all pixels. Workers decode CMYK JPEGs and other formats themselves, so these do not differ.
"""

import argparse
import io
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import simplejpeg
import torch
from sample_images import photograph

import reader
from benchmarks.runner import Candidates, Figures
from benchmarks.waiting import synchronise
from reader.gpu_decode.decoders import ChosenDecoder, choose
from reader.gpu_decode.libraries import LIBRARIES

BASELINE = "simplejpeg, one core"
OPTIONS = {"batch-size": 256, "batches": 20, "device": "cuda"}
KINDS: dict[str, dict[str, Any]] = {
    "4:4:4": {"subsampling": "4:4:4"},
    "4:2:0": {"subsampling": "4:2:0"},
    "grey": {"mode": "L"},
    "progressive": {"progressive": True},
}


def candidates(given: argparse.Namespace, work: Path) -> Candidates:
    device = reader.CUDAPrefetcher([], device=given.device).device
    names = [BASELINE, *(LIBRARIES if device.type == "cuda" else ())]
    task = device, given.batch_size, given.batches
    return {name: partial(measure, name, *task) for name in names}


def measure(name: str, device: torch.device, count: int, batches: int) -> Figures:
    is_ours = name == BASELINE
    decoder = choose(torch.device("cpu"), by_simplejpeg) if is_ours else choose(device, name)
    decoder.require()
    samples = [tensor_of(number, **KINDS["4:2:0"]) for number in range(8)]
    figures = {"images/s": rate(decoder, samples, count, batches)}
    for kind, how in KINDS.items():
        jpegs = [tensor_of(number, **how) for number in range(8)]
        expected = by_simplejpeg(jpegs, torch.device("cpu"), None)
        found = [image.cpu().int() for image in decoder.decode(jpegs)]
        far = torch.cat([(a - b).abs().flatten() for a, b in zip(found, expected, strict=True)])
        figures |= {f"{kind} mean": far.float().mean().item(), f"{kind} most": far.max().item()}
    return figures


def rate(decoder: ChosenDecoder, jpegs: list[torch.Tensor], count: int, batches: int) -> float:
    batch = [jpegs[number % len(jpegs)] for number in range(count)]
    for number in range(batches + 2):
        if number == 2:
            synchronise(decoder.device)
            began = time.perf_counter()
        decoder.decode(batch)
    synchronise(decoder.device)
    return count * batches / (time.perf_counter() - began)


def by_simplejpeg(jpegs: list[torch.Tensor], device: Any, stream: Any) -> list[torch.Tensor]:
    pixels = (simplejpeg.decode_jpeg(jpeg.numpy(), "RGB") for jpeg in jpegs)
    return [torch.from_numpy(image).permute(2, 0, 1) for image in pixels]


def tensor_of(number: int, mode: str = "RGB", **options: Any) -> torch.Tensor:
    made = photograph(np.random.default_rng(number), number, 375, 500).convert(mode)
    content = io.BytesIO()
    made.save(content, "JPEG", quality=92, **options)
    return torch.frombuffer(bytearray(content.getvalue()), dtype=torch.uint8)
