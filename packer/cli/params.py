"""Options that several commands have, click's parameters for those of packing, and sections."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from packer.cli.output import Output
from packer.options.declared import OPTIONS
from packer.options.kinds import SECTIONS, Kind, Option
from reader.store.urls import is_url
from reader.system import usable_cores

Command = TypeVar("Command", bound=Callable[..., Any])


class Value(click.ParamType[Any]):
    def __init__(self, kind: Kind) -> None:
        self.name = kind.metavar
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._kind.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def join(self, ctx: click.Context, param: click.Parameter, values: Any) -> Any:
        """Return the one value of an option that was given several times."""
        try:
            return self._kind.check(values)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None


def parsed(name: str, parse: Callable[[str], Any]) -> click.ParamType[Any]:
    """Return the type of texts that `parse` reads; it raises ValueError with a sentence."""
    return Value(Kind(lambda value: value, "", name, read=parse))


def declared(name: str, **changes: Any) -> Callable[[Command], Command]:
    found: Option = OPTIONS[name]
    if name == "jobs":
        changes = {"default": usable_cores, **changes}
    spelled, arguments = [*found.aliases, found.flag], {"help": found.help, **changes}
    if not found.kind.metavar:
        if found.default:
            spelled = [f"{found.flag}/--no-{found.flag[2:]}"]
            arguments |= {"default": True, "show_default": True}
        return click.option(*spelled, name, is_flag=True, **arguments)
    if found.section and found.default is not None and "Default" not in found.help:
        arguments = {"default": found.default, "show_default": True, **arguments}
    kind = found.kind
    values = click.Choice(kind.choices) if kind.choices else Value(kind)
    usual: dict[str, Any] = {"type": values, "metavar": kind.metavar, "multiple": kind.is_repeated}
    if kind.is_repeated:
        usual["callback"] = Value(kind).join
    return click.option(*spelled, name, **{**usual, **arguments})


def by_section(*names: str) -> dict[str, list[str]]:
    """Return the options of packing by their sections in ``--help``, `names` in the last one."""
    found: dict[str, list[str]] = {section: [] for section in SECTIONS}
    for one in OPTIONS.values():
        if one.section:
            found[one.section].append(one.name)
    found[SECTIONS[-1]] += names
    return found


class Place(click.Path):
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        if is_url(value):
            return str(value)
        return Path(os.fsdecode(super().convert(value, param, ctx)))


class Sectioned(click.Command):
    """A command with its options under headings, by `sections`; other options come last."""

    def __init__(self, *arguments: Any, sections: Mapping[str, Sequence[str]], **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._heading = {name: title for title, names in sections.items() for name in names}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options like click, under several headings."""
        found: dict[str, list[tuple[str, str]]] = {title: [] for title in self._heading.values()}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                found[self._heading.get(param.name or "", list(found)[-1])].append(record)
        for title, records in found.items():
            with formatter.section(title):
                formatter.write_dl(records)


def limited(command: Callable[..., int]) -> Callable[..., int]:
    @wraps(command)
    def run(max_pixels: int | None, max_bytes: int | None, **given: Any) -> int:
        from packer.options.chosen import limits_of

        return command(limits=limits_of(max_pixels, max_bytes), **given)

    return declared("max_pixels")(declared("max_bytes")(run))


def reporting(
    quiet: str = "No progress, no report; errors only.",
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return what gives a command ``--json`` and ``--quiet``, and their values as `output`."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
        @click.option("--quiet", "-q", is_flag=True, help=quiet)
        @wraps(command)
        def run(as_json: bool, quiet: bool, **given: Any) -> int:
            return command(output=Output(as_json, quiet), **given)

        return run

    return decorate


jobs = declared("jobs")
count = partial(click.option, type=click.IntRange(1), show_default=True)
new_file = click.Path(dir_okay=False, path_type=Path)
place = click.argument(
    "place", metavar="DATASET|URL", type=Place(exists=True, file_okay=False, path_type=Path)
)
