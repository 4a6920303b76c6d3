"""`packer plan`: what reading a dataset will take, before it is read."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packer.cli import params as options
from packer.cli.output import print_json, say
from packer.cli.plan_output import compared, lines
from packer.cli.sections import Sectioned
from packer.options.kinds import HEIGHT_WIDTH, size
from packer.words import in_bytes, many
from reader.system import usable_cores

if TYPE_CHECKING:
    from packer.inspect.plan.setting import Known, Setting
    from packer.inspect.plan.stored import Stored

_SECONDS = 3.0  # of measuring
_OF_A_STORE = ("cache_limit", "latency", "bandwidth")  # options that mean one, beside a URL
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


class Shuffle(click.ParamType[Any]):
    """``global``, ``block:SHARDS``, ``block:SHARDS:STREAMS`` or ``none``."""

    name = "shuffle"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What a Loader takes as `shuffle`."""
        if value in ("global", "none"):
            return value == "global"
        from reader.order.blocks import BlockShuffle

        match = re.fullmatch(r"block:([1-9]\d{0,5})(?::([1-9]\d{0,5}))?", str(value))
        if not match:
            self.fail(f"{value!r} is none of global, none, block:SHARDS[:STREAMS].", param, ctx)
        return BlockShuffle(int(match[1]), int(match[2]) if match[2] else None)


class Duration(click.ParamType[float]):
    """``100ms`` or ``0.1s``."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds."""
        match = re.fullmatch(r"(\d{1,4}(?:\.\d+)?)(s|ms|us)", str(value))
        if not match:
            self.fail(f"{value!r} is not a time such as 100ms or 0.1s.", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


class Rate(click.ParamType["float | str"]):
    """``measured``, or images a second."""

    name = "rate"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> "float | str":
        """The number, or "measured"."""
        if value == "measured":
            return "measured"
        if not re.fullmatch(r"\d+(\.\d+)?", str(value)) or not float(value):
            self.fail(f"{value!r} is neither measured nor images a second.", param, ctx)
        return float(value)


_SECTIONS = {
    "Who reads": (
        "batch_size",
        "nodes",
        "ranks",
        "workers",
        "split",
        "epochs",
        "size",
        "drop_last",
    ),
    "The order": ("shuffle", "seed"),
    "Through what": ("cache_limit", "latency", "bandwidth", "rate", "gpu_rate", "vram"),
}


@click.command(cls=Sectioned, sections=_SECTIONS)
@options.place
@click.option(
    "--batch-size", type=click.IntRange(1), default=256, show_default=True, help="Of each rank."
)
@click.option("--nodes", type=click.IntRange(1), default=1, show_default=True, help="Machines.")
@click.option(
    "--ranks",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Processes on each of them, a GPU each.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Of each rank. Default: its share of the cores this process may use.",
)
@click.option(
    "--split",
    help="Of the dataset; '' for all of it. Default: train, or all of it if there is no train.",
)
@click.option("--epochs", type=click.IntRange(1), default=2, show_default=True)
@click.option(
    "--size",
    type=options.Value(HEIGHT_WIDTH),
    default="224x224",
    show_default=True,
    help="Of the images in a batch, height x width.",
)
@click.option("--drop-last", is_flag=True, help="As the Loader's drop_last=True.")
@click.option(
    "--shuffle",
    type=Shuffle(),
    metavar="global|block:SHARDS[:STREAMS]|none",
    default="global",
    show_default=True,
)
@click.option("--seed", type=int, default=0, show_default=True, help="As the Loader's.")
@click.option(
    "--cache-limit",
    type=options.Value(size()),
    help="Of the cache of a node. Default: room for all.",
)
@click.option("--latency", type=Duration(), help="Of a request to the store, such as 100ms.")
@click.option(
    "--bandwidth", type=options.Value(size()), help="Bytes a second of a node, such as 1GB."
)
@click.option(
    "--rate",
    type=Rate(),
    metavar="measured|N",
    help="Images a second that a node decodes; measured: on this machine, for 3 seconds.",
)
@click.option(
    "--gpu-rate",
    type=click.FloatRange(0, min_open=True),
    help="Images a second that a GPU takes in training.",
)
@click.option(
    "--vram",
    type=options.Value(size()),
    default="80GB",
    show_default=True,
    help="Memory of a GPU.",
)
@options.as_json
def plan(place: Path | str, as_json: bool, **given: Any) -> int:
    """Tell what reading DATASET will take: steps, requests, memory, time, and what would help.

    Nothing is decoded: all is counted from dataset.json, the indexes and the order.
    """
    from packer.inspect.plan.estimate import alternatives, estimate
    from packer.inspect.plan.stored import Stored, usual_split
    from packer.inspect.store import as_folder, is_url
    from packer.progress import Progress
    from reader.remote.parts import TooSmallCache

    with as_folder(place, Progress(quiet=as_json), is_whole=False) as folder:
        split = usual_split(folder) if given["split"] is None else given["split"] or None
        stored = Stored.of(folder, split)
        if not len(stored):
            raise click.UsageError(f"{place} has no samples to plan for.")
        setting = _setting(place, stored, is_url(place), {**given, "split": split})
        try:
            found = estimate(stored, setting)
        except TooSmallCache as error:
            raise click.UsageError(
                f"--cache-limit: {in_bytes(given['cache_limit'])} are too few for what is read at "
                f"a time. Give at least --cache-limit {-(-error.least // 10**6)}MB."
            ) from error
        is_far = is_url(place) or any(given[name] is not None for name in _OF_A_STORE)
        others = list(alternatives(stored, setting, found, is_far=is_far or as_json))
    if as_json:
        sources = {
            name: vars(getattr(setting, name))
            for name in ("latency", "bandwidth", "rate", "gpu_rate")
        }
        changed = [{"change": name, **(other.content() if other else {})} for name, other in others]
        seen = {"split": split, "rates": sources, **found.content(), "alternatives": changed}
        print_json(seen)
        return 0
    what = f"{place}, split {split}" if split else str(place)
    told = lines(what, stored, setting, found, is_far=is_far)
    for line in (*told, *compared(found, others, is_far=is_far)):
        say(line, err=False)
    return 0


def _setting(
    place: Path | str, stored: "Stored", is_remote: bool, given: dict[str, Any]
) -> "Setting":
    """What was asked, with what has to be measured for it."""
    from packer.inspect.plan.setting import Known, Setting

    ranks = given["ranks"]
    workers = given["workers"] or max(usable_cores() // ranks, 1)
    probed = None
    if is_remote and None in (given["latency"], given["bandwidth"]):
        from packer.inspect.plan.probe import probe

        probed = probe(str(place), stored.shards, _SECONDS)

    def known(name: str) -> Known:
        """Of the store: as it was given, or measured."""
        if probed is None or given[name] is not None:
            return Known(given[name], "given")
        return Known(getattr(probed, name), f"measured in {probed.seconds:.0f} s")

    rate: Known = Known(given["rate"], "given")
    if given["rate"] == "measured":
        rate = _measured_rate(place, given, workers * ranks)
    return Setting(
        batch_size=given["batch_size"],
        nodes=given["nodes"],
        ranks=ranks,
        workers=workers,
        cores=usable_cores(),
        shuffle=given["shuffle"],
        seed=given["seed"],
        drop_last=given["drop_last"],
        epochs=given["epochs"],
        cache_limit=given["cache_limit"],
        size=given["size"],
        latency=known("latency"),
        bandwidth=known("bandwidth"),
        rate=rate,
        gpu_rate=Known(given["gpu_rate"], "given"),
        vram=given["vram"],
    )


def _measured_rate(place: Path | str, given: dict[str, Any], workers: int) -> "Known":
    from packer.inspect.bench import measure
    from packer.inspect.plan.setting import Known

    here = min(workers, usable_cores())
    point = measure(
        place, given["split"], given["batch_size"], _SECONDS, here, "rrc", given["size"]
    )
    source = (
        f"measured here with {many(here, 'worker')} for {_SECONDS:.0f} s, "
        f"{point.statistics.bound_by}-bound"
    )
    if here < workers:
        source += f"; {workers} workers would share these {many(here, 'core')}"
    return Known(point.rate, source)
