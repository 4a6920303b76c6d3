"""Options that several commands have."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from packer.planning.shard_size import byte_size
from reader.system import usable_cores

if TYPE_CHECKING:
    from reader.format import Limits


class ByteSize(click.ParamType[int]):
    """``500MB``, ``1GB``, ``2GiB`` or a plain number of bytes, from `least` on."""

    name = "size"

    def __init__(self, least: int = 1) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        try:
            return byte_size(value, self._least)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Size(click.ParamType[tuple[int, int]]):
    """``224x224``: height and width in pixels."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """(height, width)."""
        match = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", str(value))
        if not match:
            self.fail(f"{value!r} is not a height and width such as 32x32.", param, ctx)
        return int(match[1]), int(match[2])


class Fractions(click.ParamType[dict[str, float]]):
    """``train=0.9,val=0.1``: names with shares that make 1."""

    name = "fractions"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, float]:
        """The share of each name, in the order given."""
        from packer.sources.table.columns import SPLIT_NAME

        shares: dict[str, float] = {}
        for part in str(value).split(","):
            match = re.fullmatch(rf"({SPLIT_NAME.pattern})=(\d*\.?\d+)", part.strip())
            if not match or match[1] in shares:
                self.fail(
                    f"{value!r} is not of the form train=0.9,val=0.1, with names of 255 characters "
                    "at most.",
                    param,
                    ctx,
                )
            shares[match[1]] = float(match[2])
        if abs(sum(shares.values()) - 1) > 1e-6:
            self.fail(f"the shares in {value!r} do not make 1.", param, ctx)
        return shares


class Depth(click.ParamType[int]):
    """``2`` or ``all``: levels of folders."""

    name = "depth"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of levels; -1 for all."""
        if str(value) == "all" or value == -1:
            return -1
        if not re.fullmatch(r"[1-9]\d?", str(value)):
            self.fail(f"{value!r} is neither a number of levels from 1 on nor all.", param, ctx)
        return int(value)


class Pair(click.ParamType[tuple[str, Path]]):
    """``mask=DIR``: the name of a member and the folder that has it for each image.

    ``mask?=DIR``: for some of them.
    """

    name = "pair"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Path]:
        """(name, folder)."""
        name, equals, folder = str(value).partition("=")
        if not equals or not re.fullmatch(r"[a-z0-9_-]+\??", name):
            self.fail(f"{value!r} is not of the form mask=DIR or mask?=DIR.", param, ctx)
        if not os.path.isdir(folder):
            self.fail(f"{folder!r} is not a folder.", param, ctx)
        return name, Path(folder)


class Place(click.Path):
    """A folder that is there, or a URL."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """The folder's path, or the URL as it is."""
        from packer.checking.store import is_url

        if is_url(value):
            return str(value)
        return Path(os.fsdecode(super().convert(value, param, ctx)))


def limits(max_pixels: int | None, max_bytes: int | None) -> "Limits":
    """What the options of these names say."""
    from reader.format import Limits
    from reader.format.tar import MAX_MEMBER

    if max_bytes is not None and max_bytes > MAX_MEMBER:
        raise click.UsageError(f"--max-bytes: {MAX_MEMBER} is what the format of tars allows.")
    usual = Limits()
    return Limits(max_pixels or usual.pixels, max_bytes or usual.bytes)


jobs = click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1),
    default=usable_cores,
    help="Processes. Default: the cores this one may use.",
)
max_pixels = click.option(
    "--max-pixels", type=click.IntRange(1), help="Of an image. Default: 536870912 (2^29)."
)
max_bytes = click.option(
    "--max-bytes", type=ByteSize(), help="Of an image and its members. Default: 1GiB."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
quiet = click.option("--quiet", "-q", is_flag=True, help="No progress, no report; errors only.")
dst = click.argument(
    "dst", metavar="DATASET", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
place = click.argument(
    "place", metavar="DATASET|URL", type=Place(exists=True, file_okay=False, path_type=Path)
)
