"""Options that several commands have."""

import os
from typing import Any

import click

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


class ByteSize(click.ParamType[int]):
    """``500MB``, ``1GB``, ``2GiB`` or a plain number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        if isinstance(value, int):
            return value
        text = str(value).strip().upper().removesuffix("B")
        number = text.rstrip("KMGTI")
        try:
            size = int(float(number) * _UNITS[text[len(number) :]])
        except (KeyError, ValueError, OverflowError):
            self.fail(f"{value!r} is not a size such as 500MB, 1GB or 2GiB.", param, ctx)
        if size < 1:
            self.fail(f"{value!r} is not a size of at least one byte.", param, ctx)
        return size


def usable_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


jobs = click.option(
    "--jobs",
    type=click.IntRange(1),
    default=usable_cores,
    help="Processes. Default: the cores this one may use.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
quiet = click.option("--quiet", "-q", is_flag=True, help="No progress, no report; errors only.")
