"""`packer plan`: what reading a dataset will take, before it is read."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packer.cli import params as options
from packer.cli.output import Output
from packer.options.kinds import HEIGHT_WIDTH, size
from packer.progress import Progress
from packer.words import in_bytes, many
from reader.store.urls import is_url
from reader.system import usable_cores

if TYPE_CHECKING:
    from packer.inspect.estimate.reading import Known, Setting, Stored

_SECONDS = 3.0  # of measuring
_OF_A_STORE = ("cache_limit", "latency", "bandwidth")  # options that mean one, beside a URL
_READERS = ("batch_size", "nodes", "ranks", "workers")
_RATES = ("latency", "bandwidth", "rate", "gpu_rate")
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_SECTIONS = {
    "Readers": [*_READERS, "split", "epochs", "size", "drop_last"],
    "Order": ["shuffle", "seed"],
    "Store and hardware": ["cache_limit", *_RATES, "vram"],
}


def _shuffle(text: str) -> Any:
    if text in ("global", "none"):
        return text == "global"
    from reader.order.blocks import BlockShuffle

    match = re.fullmatch(r"block:([1-9]\d{0,5})(?::([1-9]\d{0,5}))?", text)
    if not match:
        raise ValueError(f"{text!r} is not one of global, none and block:SHARDS[:STREAMS].")
    return BlockShuffle(int(match[1]), int(match[2]) if match[2] else None)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d{1,4}(?:\.\d+)?)(s|ms|us)", text)
    if not match:
        raise ValueError(f"{text!r} is not a time such as 100ms or 0.1s.")
    return float(match[1]) * _UNITS[match[2]]


def _rate(text: str) -> float | str:
    if text != "measured" and (not re.fullmatch(r"\d+(\.\d+)?", text) or not float(text)):
        raise ValueError(
            f'{text!r} is neither "measured" nor a number of images per second, such as 2500.'
        )
    return text if text == "measured" else float(text)


@click.command(cls=options.Sectioned, sections=_SECTIONS)
@options.place
@options.count("--batch-size", default=256, help="Batch size of each rank.")
@options.count("--nodes", default=1, help="Machines.")
@options.count("--ranks", default=1, help="Processes on each machine, with one GPU each.")
@options.count(
    "--workers", help="Worker processes of each rank. Default: its share of the usable cores."
)
@click.option(
    "--split",
    help="Split to read; '' reads all samples. Default: train if it exists, otherwise all samples.",
)
@options.count("--epochs", default=2)
@options.count(
    "--size",
    type=options.Value(HEIGHT_WIDTH),
    default="224x224",
    help="Height x width of the images in a batch.",
)
@click.option(
    "--drop-last",
    is_flag=True,
    help="Drop the last incomplete batch, like drop_last=True of the Loader.",
)
@click.option(
    "--shuffle",
    type=options.parsed("shuffle", _shuffle),
    metavar="global|block:SHARDS[:STREAMS]|none",
    default="global",
    show_default=True,
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the shuffle, like the Loader's."
)
@click.option(
    "--cache-limit",
    type=options.Value(size()),
    help="Size of the cache of a node. Default: the size of the dataset.",
)
@click.option(
    "--latency",
    type=options.parsed("time", _seconds),
    help="Latency of a request to the store, such as 100ms.",
)
@click.option(
    "--bandwidth",
    type=options.Value(size()),
    help="Bytes per second that a node receives from the store, such as 1GB.",
)
@click.option(
    "--rate",
    type=options.parsed("rate", _rate),
    metavar="measured|N",
    help="Images per second that a node decodes; measured: decode for 3 seconds on this machine.",
)
@click.option(
    "--gpu-rate",
    type=click.FloatRange(0, min_open=True),
    help="Images per second that a GPU trains on.",
)
@options.count("--vram", type=options.Value(size()), default="80GB", help="Memory of a GPU.")
@options.reporting()
def plan(place: Path | str, output: Output, split: str | None, **given: Any) -> int:
    """Estimate steps, requests, memory and time of reading DATASET, and suggest improvements.

    Nothing is decoded: all figures are computed from dataset.json, the indexes and the order.
    """
    from packer.inspect.estimate.estimate import alternatives, estimate
    from packer.inspect.estimate.reading import Stored, usual_split
    from packer.inspect.estimate.words import lines
    from packer.storage.dataset import finished
    from reader.cache.ranges import TooSmallCache

    with finished(place, Progress(output.is_silent)) as dataset:
        split = usual_split(dataset) if split is None else split or None
        stored = Stored.of(dataset, split)
        if not len(stored):
            raise click.UsageError(
                f"{place} has no samples. Choose another split with --split, or '' for all samples."
            )
        setting = _setting(place, stored, split, given)
        try:
            found = estimate(stored, setting)
        except TooSmallCache as error:
            raise click.UsageError(
                f"--cache-limit: {in_bytes(given['cache_limit'])} is less than one step reads. "
                f"Pass at least --cache-limit {-(-error.least // 10**6)}MB."
            ) from error
        is_far = is_url(place) or any(given[name] is not None for name in _OF_A_STORE)
        others = list(alternatives(stored, setting, found, is_far=is_far or output.as_json))
    rates = {name: vars(getattr(setting, name)) for name in _RATES}
    changed = [{"change": name, **(other.content() if other else {})} for name, other in others]
    what = f"{place}, split {split}" if split else str(place)
    return output.report(
        {"split": split, "rates": rates, **found.content(), "alternatives": changed},
        lines(what, stored, setting, found, others, is_far=is_far),
    )


def _setting(
    place: Path | str, stored: "Stored", split: str | None, given: dict[str, Any]
) -> "Setting":
    import asyncio  # which few commands need

    from packer.inspect.bench import probe
    from packer.inspect.estimate.reading import Known, Setting

    workers = given["workers"] or max(usable_cores() // given["ranks"], 1)
    found = {name: Known(given[name], "given") for name in _RATES}
    lacking = [name for name in ("latency", "bandwidth") if given[name] is None]
    if is_url(place) and lacking:
        rates, took = asyncio.run(probe(str(place), stored.shards, _SECONDS))
        found |= {name: Known(rates[name], f"measured in {took:.0f} s") for name in lacking}
    if given["rate"] == "measured":
        found["rate"] = _measured_rate(place, split, given, workers * given["ranks"])
    return Setting(**{**given, **found, "workers": workers, "cores": usable_cores()})


def _measured_rate(
    place: Path | str, split: str | None, given: dict[str, Any], workers: int
) -> "Known":
    from packer.inspect.bench import measure
    from packer.inspect.estimate.reading import Known

    here = min(workers, usable_cores())
    point = measure(place, split, given["batch_size"], _SECONDS, here, "rrc", given["size"])
    source = (
        f"measured here with {many(here, 'worker')} for {_SECONDS:.0f} s, "
        f"{point.statistics.bound_by}-bound"
    )
    if here < workers:
        source += f"; {workers} workers would share these {many(here, 'core')}"
    return Known(point.rate, source)
